// SPDX-License-Identifier: Apache-2.0
#include "kat/vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "common/exit_codes.hpp"
#include "kat/coins.hpp"
#include "kat/json_fields.hpp"

namespace polykem::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

std::uint64_t parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    bad_input(fmt::format("'{}' is not a count", printable(text)));
  return value;
}

/// Stores one line "key = value" of a .rsp file.
void rsp_field(KatFile& file, std::string_view key, std::string_view value) {
  if (key == "count") {
    file.cases.emplace_back();
    file.cases.back().count = parse_count(value);
    return;
  }
  if (file.cases.empty()) bad_input(fmt::format("'{}' before the first count", printable(key)));
  KatCase& c = file.cases.back();
  const std::pair<std::string_view, Bytes*> fields[] = {
      {"seed", &c.seed}, {"pk", &c.pk}, {"sk", &c.sk}, {"ct", &c.ct}, {"ss", &c.ss}};
  for (const auto& [name, bytes] : fields) {
    if (key != name) continue;
    if (!bytes->empty()) bad_input(fmt::format("a second '{}' for count {}", key, c.count));
    *bytes = parse_hex(value);
    return;
  }
  bad_input(fmt::format("unknown field '{}'", printable(key)));
}

Bytes json_coins(const Json& object, const char* key) {
  Bytes out;
  for (const Json& call : json_list(object, key)) {
    if (!call.is_string()) bad_input(fmt::format("'{}' must be a list of strings of hex digits", key));
    const Bytes bytes = parse_hex(call.get_ref<const std::string&>());
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

RejectCase json_reject(const Json& object) {
  RejectCase out;
  out.byte = json_number(object, "byte");
  const std::uint64_t change = json_number(object, "xor");
  if (change == 0 || change > 255) bad_input("a reject case's 'xor' must be 1 to 255");
  out.change = static_cast<std::uint8_t>(change);
  out.ss = json_hex(object, "ss");
  return out;
}

KatCase json_case(const Json& object) {
  KatCase out;
  out.count = json_number(object, "count");
  if (object.contains("seed")) out.seed = json_hex(object, "seed");
  out.keygen_coins = json_coins(object, "keypair_draws");
  out.encaps_coins = json_coins(object, "encaps_draws");
  out.pk = json_hex(object, "pk");
  out.sk = json_hex(object, "sk");
  out.ct = json_hex(object, "ct");
  out.ss = json_hex(object, "ss");
  if (!object.contains("reject")) return out;
  for (const Json& reject : json_list(object, "reject"))
    out.rejects.push_back(json_reject(reject));
  return out;
}

Bytes coins_of(NistDrbg& drbg, const Scheme& scheme, polykem_op op) {
  Bytes out;
  for (const std::size_t n : coin_calls(scheme, op)) {
    const Bytes call = drbg.generate(n);
    out.insert(out.end(), call.begin(), call.end());
  }
  return out;
}

void check_size(const char* what, std::size_t size, std::size_t expected) {
  if (size == expected) return;
  bad_input(fmt::format("{} has {} bytes, expected {}", what, size, expected),
            size == 0 || size < expected ? "is the file complete?" : "");
}

void complete_case(KatCase& c, const Scheme& scheme) {
  const auto& info = scheme.info();
  if (c.keygen_coins.empty() && c.encaps_coins.empty()) {
    NistDrbg drbg(c.seed);
    c.keygen_coins = coins_of(drbg, scheme, POLYKEM_KEYGEN);
    c.encaps_coins = coins_of(drbg, scheme, POLYKEM_ENCAPS);
  }
  check_size("keypair coins", c.keygen_coins.size(), info.keygen_coin_bytes);
  check_size("encaps coins", c.encaps_coins.size(), info.encaps_coin_bytes);
  check_size("pk", c.pk.size(), info.public_key_bytes);
  check_size("sk", c.sk.size(), info.secret_key_bytes);
  check_size("ct", c.ct.size(), info.ciphertext_bytes);
  check_size("ss", c.ss.size(), info.shared_secret_bytes);
  for (const RejectCase& reject : c.rejects) {
    check_size("reject ss", reject.ss.size(), info.shared_secret_bytes);
    if (reject.byte >= c.ct.size())
      bad_input(fmt::format("a reject case changes byte {} of the ciphertext", reject.byte));
  }
}

Check reject_check(const KatCase& c, const RejectCase& reject) {
  Check check;
  check.label = fmt::format("reject with byte {} xor {}", reject.byte, reject.change);
  check.op = POLYKEM_DECAPS;
  check.sk = c.sk;
  check.ct = c.ct;
  check.ct[reject.byte] = static_cast<std::uint8_t>(check.ct[reject.byte] ^ reject.change);
  check.want_ss = reject.ss;
  return check;
}

Check operation_check(const KatCase& c, polykem_op op) {
  Check check;
  check.op = op;
  if (op == POLYKEM_KEYGEN) {
    check.coins = c.keygen_coins;
    check.want_pk = c.pk;
    check.want_sk = c.sk;
  } else if (op == POLYKEM_ENCAPS) {
    check.coins = c.encaps_coins;
    check.pk = c.pk;
    check.want_ct = c.ct;
    check.want_ss = c.ss;
  } else {
    check.sk = c.sk;
    check.ct = c.ct;
    check.want_ss = c.ss;
  }
  return check;
}

}  // namespace

KatFile parse_rsp(std::string_view text) {
  KatFile file;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (line.front() == '#') {
      if (file.scheme.empty() && file.cases.empty()) file.scheme = printable(trimmed(line.substr(1)));
      continue;
    }
    const std::size_t equals = line.find('=');
    try {
      if (equals == std::string_view::npos) bad_input("not a line 'key = value'");
      rsp_field(file, trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    } catch (const CliError& e) {
      bad_input(fmt::format("line {}: {}", number, e.what()), e.hint());
    }
  }
  return file;
}

KatFile parse_kat_json(const Json& root) {
  KatFile file;
  if (!root.is_object()) bad_input("not a known-answer file: the JSON is not an object");
  if (root.contains("name") && root["name"].is_string()) file.scheme = printable(root["name"].get<std::string>());
  const auto counts = root.find("counts");
  if (counts == root.end() || !counts->is_array()) bad_input("not a known-answer file: no list 'counts'");
  for (std::size_t i = 0; i < counts->size(); ++i) {
    try {
      if (!(*counts)[i].is_object()) bad_input("is not a JSON object");
      file.cases.push_back(json_case((*counts)[i]));
    } catch (const CliError& e) {
      bad_input(fmt::format("entry {} of 'counts': {}", i, e.what()), e.hint());
    }
  }
  return file;
}

void complete_cases(KatFile& file, const Scheme& scheme) {
  for (KatCase& c : file.cases) {
    try {
      complete_case(c, scheme);
    } catch (const CliError& e) {
      bad_input(fmt::format("count {}: {}", c.count, e.what()), e.hint());
    }
  }
}

Suite suite_of(const KatFile& file) {
  Suite suite;
  suite.scheme = file.scheme;
  for (const KatCase& c : file.cases) {
    std::vector<Check> checks;
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS})
      checks.push_back(operation_check(c, op));
    for (const RejectCase& reject : c.rejects)
      checks.push_back(reject_check(c, reject));
    suite.add_case(fmt::format("count {}", c.count), std::move(checks));
  }
  return suite;
}

}  // namespace polykem::cli
