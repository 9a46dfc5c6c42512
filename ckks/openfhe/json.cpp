// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace polykem::openfhe {
namespace {

constexpr std::string_view kIndent = "    ";
/// Numbers from 10^21 on and below 10^-6 are written with an exponent.
constexpr int kMaxPointPosition = 21;
constexpr int kMinPointPosition = -5;
/// The first field that files of OpenFHE 1.2 lack.
constexpr const char* kNewField = "nest";

/// Returns the shortest digits from which the number can be read back, in cereal's form: 36.0, 0.001, 1.2e24.
std::string decimal(double value) {
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), std::abs(value), std::chars_format::scientific);
  const std::string_view scientific(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
  const std::size_t e = scientific.find('e');
  std::string digits(scientific.substr(0, e));
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  const int exponent = std::stoi(std::string(scientific.substr(e + 1)));
  const int point = exponent + 1;  // position in the digits
  const int count = static_cast<int>(digits.size());

  std::string out = value < 0 ? "-" : "";
  if (point > kMaxPointPosition || point < kMinPointPosition) {
    out += digits.substr(0, 1);
    if (count > 1) out += '.' + digits.substr(1);
    return out + 'e' + std::to_string(exponent);
  }
  if (point <= 0) return out + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  if (count <= point) return out + digits + std::string(static_cast<std::size_t>(point - count), '0') + ".0";
  return out + digits.substr(0, static_cast<std::size_t>(point)) + '.' + digits.substr(static_cast<std::size_t>(point));
}

}  // namespace

JsonReader::JsonReader(std::istream& in) : root_(read_json(in)) {
  open_.push_back({&root_, nullptr, 0});
}

JsonNode& JsonReader::node(const char* name) {
  Open& top = open_.back();
  if (name == nullptr) {
    if (top.list == nullptr || top.next >= top.list->size()) fail("has too few elements");
    return (*top.list)[top.next++];
  }
  for (JsonField& field : *top.fields) {
    if (!field.taken && std::strcmp(field.name, name) == 0) {
      field.taken = true;
      return field.node;
    }
  }
  fail_at(name, std::strcmp(name, kNewField) == 0 ? std::string("is missing: ") + kTooOld : "is missing");
}

template <class T>
T& JsonReader::value(const char* name, const char* what) {
  T* found = std::get_if<T>(&node(name).value);
  if (found == nullptr) fail_at(name, std::string("is not ") + what);
  return *found;
}

void JsonReader::enter(const char* name) {
  auto* fields = std::get_if<JsonFields>(&node(name).value);
  if (fields == nullptr) fail_at(name, "is not an object");
  open_.push_back({fields, nullptr, 0});
}

void JsonReader::leave() {
  for (const JsonField& field : *open_.back().fields) {
    if (!field.taken) fail_at(field.name, "does not belong there");
  }
  open_.pop_back();
}

std::size_t JsonReader::enter_list(const char* name) {
  auto* list = std::get_if<JsonList>(&node(name).value);
  if (list == nullptr) fail_at(name, "is not a list of objects");
  open_.push_back({nullptr, list, 0});
  return list->size();
}

void JsonReader::leave_list() {
  open_.pop_back();
}

std::uint64_t JsonReader::integer(const char* name, std::size_t) {
  return value<std::uint64_t>(name, "an integer from 0 to 2^64 - 1");
}

double JsonReader::real(const char* name, std::size_t) {
  const auto& found = node(name).value;
  if (const auto* whole = std::get_if<std::uint64_t>(&found)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&found)) return *real;
  fail_at(name, "is not a number");
}

void JsonReader::flag(const char* name, bool& value_out) {
  value_out = value<bool>(name, "true or false");
}

void JsonReader::text(const char* name, std::string& value_out) {
  value_out = value<std::string>(name, "a text");
}

void JsonReader::words(const char* name, std::vector<std::uint64_t>& values, std::size_t max_count) {
  auto& found = node(name).value;
  if (const auto* list = std::get_if<JsonList>(&found); list != nullptr && list->empty()) return values.clear();
  const auto* words = std::get_if<JsonWords>(&found);
  if (words == nullptr) fail_at(name, "is not a list of integers");
  if (words->size() > max_count) {
    fail_at(name, "has " + std::to_string(words->size()) + " elements, more than " + std::to_string(max_count));
  }
  values.assign(words->begin(), words->end());
  found = false;  // frees the memory
}

JsonWriter::JsonWriter(std::ostream& out) : Writer(out) {
  begin(nullptr, '{');
}

void JsonWriter::line() {
  put("\n");
  for (std::size_t i = 0; i < filled_.size(); ++i)
    put(kIndent);
}

void JsonWriter::item(const char* name) {
  if (!filled_.empty()) {
    if (filled_.back()) put(",");
    filled_.back() = true;
    line();
  }
  if (name == nullptr) return;
  put("\"");
  put(name);
  put("\": ");
}

void JsonWriter::begin(const char* name, char bracket) {
  item(name);
  put({&bracket, 1});
  filled_.push_back(false);
}

void JsonWriter::end(char bracket) {
  const bool filled = filled_.back();
  filled_.pop_back();
  if (filled) line();
  put({&bracket, 1});
}

void JsonWriter::open(const char* name) {
  begin(name, '{');
}

void JsonWriter::close() {
  end('}');
}

void JsonWriter::open_list(const char* name, std::size_t) {
  begin(name, '[');
}

void JsonWriter::close_list() {
  end(']');
}

void JsonWriter::integer(const char* name, std::uint64_t value, std::size_t) {
  item(name);
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  put({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
}

void JsonWriter::real(const char* name, double value, std::size_t) {
  item(name);
  put(decimal(value));
}

void JsonWriter::flag(const char* name, bool value) {
  item(name);
  put(value ? "true" : "false");
}

void JsonWriter::text(const char* name, const std::string& value) {
  item(name);
  put("\"");
  put(value);
  put("\"");
}

void JsonWriter::words(const char* name, const std::vector<std::uint64_t>& values) {
  open_list(name, values.size());
  for (const std::uint64_t value : values)
    integer(nullptr, value, sizeof value);
  close_list();
}

void JsonWriter::finish() {
  close();
  flush();
}

}  // namespace polykem::openfhe
