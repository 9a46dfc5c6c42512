// SPDX-License-Identifier: Apache-2.0
#include "kat/json_fields.hpp"

#include <fmt/format.h>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Json parse_json(std::string_view text) {
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& e) {
    bad_input(fmt::format("not valid JSON at byte {}", e.byte), "is the file complete?");
  } catch (const Json::out_of_range&) {
    bad_input("the JSON holds a number out of range");
  }
}

Bytes parse_hex(std::string_view text) {
  if (text.size() % 2 != 0) bad_input("an odd number of hex digits", "is the file complete?");
  Bytes out(text.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) bad_input("a character that is not a hex digit");
    out[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return out;
}

Bytes json_hex(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) bad_input(fmt::format("no field '{}'", key), "is the file complete?");
  if (!found->is_string()) bad_input(fmt::format("field '{}' is not a string of hex digits", key));
  return parse_hex(found->get_ref<const std::string&>());
}

std::string json_string(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) bad_input(fmt::format("no string '{}'", key));
  return found->get<std::string>();
}

std::uint64_t json_number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) bad_input(fmt::format("no number '{}'", key));
  return found->get<std::uint64_t>();
}

bool json_bool(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_boolean()) bad_input(fmt::format("no field '{}' that is true or false", key));
  return found->get<bool>();
}

const Json& json_list(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) bad_input(fmt::format("no list '{}'", key));
  return *found;
}

}  // namespace polykem::cli
