// SPDX-License-Identifier: Apache-2.0
#include "kat/cctv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "kat/json_fields.hpp"

namespace polykem::cli {
namespace {

/// Keys shorter than this are not ML-KEM keys.
constexpr std::size_t kMinKeyDigits = 1000;

bool all_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out = split(text, '\n');
  for (std::string& line : out) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.pop_back();
  }
  return out;
}

/// The set of `family` ("mlkem", "kyber") whose key has that size.
std::string set_of_size(std::string_view family, std::size_t bytes, std::size_t (Scheme::*size)() const noexcept) {
  for (const Scheme& scheme : Scheme::all()) {
    const std::string_view name = scheme.name();
    if (name.substr(0, family.size()) == family && (scheme.*size)() == bytes) return scheme.name();
  }
  bad_input(fmt::format("a key of {} bytes, which no {} set of this build has", bytes, family));
}

std::vector<Suite> parse_modulus(const std::vector<std::string>& lines) {
  std::vector<Suite> suites;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Check check;
    check.op = POLYKEM_ENCAPS;
    check.key_only = true;
    check.want = POLYKEM_ERR_PUBLIC_KEY;
    try {
      check.pk = parse_hex(lines[i]);
      const std::string set = set_of_size("mlkem", check.pk.size(), &Scheme::public_key_bytes);
      suite_for(suites, set).add_case(fmt::format("line {}", i + 1), {check});
    } catch (const CliError& e) {
      bad_input(fmt::format("line {}: {}", i + 1, e.what()), e.hint());
    }
  }
  return suites;
}

using Values = std::map<std::string, Bytes>;

/// The named values of a case.
Values parse_values(const std::vector<std::string>& lines) {
  Values values;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t equals = lines[i].find(" = ");
    if (equals == std::string::npos) bad_input(fmt::format("line {}: not a line 'name = value'", i + 1));
    const std::string name = lines[i].substr(0, equals);
    if (name != "d" && name != "z" && name != "ek" && name != "dk" && name != "m" && name != "c" && name != "K")
      continue;
    if (values.count(name) != 0) bad_input(fmt::format("line {}: a second '{}'", i + 1, name));
    try {
      values[name] = parse_hex(lines[i].substr(equals + 3));
    } catch (const CliError& e) {
      bad_input(fmt::format("line {}: {}", i + 1, e.what()), e.hint());
    }
  }
  for (const char* name : {"dk", "c", "K"}) {
    if (values.count(name) == 0) bad_input(fmt::format("no value '{}'", name), "is the file complete?");
  }
  return values;
}

std::vector<Suite> parse_one(const Values& values) {
  std::vector<Suite> suites;
  const std::size_t size = values.at("dk").size();
  Check decaps;
  decaps.op = POLYKEM_DECAPS;
  decaps.sk = values.at("dk");
  decaps.ct = values.at("c");
  decaps.want_ss = values.at("K");
  std::vector<Check> checks = {decaps};
  const bool whole = values.count("d") + values.count("z") + values.count("ek") + values.count("m") == 4;
  if (whole) {
    Check encaps;
    encaps.op = POLYKEM_ENCAPS;
    encaps.pk = values.at("ek");
    encaps.coins = values.at("m");
    encaps.want_ct = values.at("c");
    encaps.want_ss = values.at("K");
    checks.push_back(encaps);
  }
  suite_for(suites, set_of_size("mlkem", size, &Scheme::secret_key_bytes)).add_case("the file", checks);
  if (whole) {
    Check keygen;
    keygen.op = POLYKEM_KEYGEN;
    keygen.coins = values.at("d");
    keygen.coins.insert(keygen.coins.end(), values.at("z").begin(), values.at("z").end());
    keygen.want_pk = values.at("ek");
    keygen.want_sk = values.at("dk");
    suite_for(suites, set_of_size("kyber", size, &Scheme::secret_key_bytes)).add_case("the file", {keygen});
  }
  return suites;
}

}  // namespace

bool is_cctv(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
  if (line.size() >= kMinKeyDigits && all_hex(line)) return true;
  return line.substr(0, 4) == "d = " || line.substr(0, 5) == "dk = ";
}

std::vector<Suite> parse_cctv(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  if (lines.empty()) bad_input("the file is empty");
  return all_hex(lines.front()) ? parse_modulus(lines) : parse_one(parse_values(lines));
}

}  // namespace polykem::cli
