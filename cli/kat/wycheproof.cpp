// SPDX-License-Identifier: Apache-2.0
#include "kat/wycheproof.hpp"

#include <fmt/format.h>

#include <string_view>

#include "common/exit_codes.hpp"
#include "kat/json_fields.hpp"

namespace polykem::cli {
namespace {

/// Reads an output field, which is missing or empty if the test must be refused.
Bytes output(const Json& test, const char* key, polykem_status want) {
  return want == POLYKEM_OK ? json_hex(test, key) : Bytes();
}

Check keygen_check(const Json& test) {
  Check check;
  check.op = POLYKEM_KEYGEN;
  check.coins = json_hex(test, "seed");
  check.want_pk = json_hex(test, "ek");
  if (test.contains("dk")) check.want_sk = json_hex(test, "dk");
  return check;
}

Check encaps_check(const Json& test, polykem_status want) {
  Check check;
  check.op = POLYKEM_ENCAPS;
  check.want = want;
  check.pk = json_hex(test, "ek");
  check.coins = json_hex(test, "m");
  check.want_ct = output(test, "c", want);
  check.want_ss = output(test, "K", want);
  return check;
}

Check decaps_check(const Json& test, bool seed_key, polykem_status want) {
  Check check;
  check.op = POLYKEM_DECAPS;
  check.seed_key = seed_key;
  check.want = want;
  check.sk = json_hex(test, seed_key ? "seed" : "dk");
  check.ct = json_hex(test, "c");
  check.want_ss = output(test, "K", want);
  return check;
}

SignedMessage message_of(const Json& test) {
  SignedMessage out;
  if (!test.contains("msg")) {
    out.kind = POLYKEM_MESSAGE_MU;
    out.bytes = json_hex(test, "mu");
    return out;
  }
  out.bytes = json_hex(test, "msg");
  if (test.contains("ctx")) out.context = json_hex(test, "ctx");
  return out;
}

Check signer_check(const Json& group) {
  Check check;
  check.op = POLYKEM_KEYGEN;
  check.coins = json_hex(group, "privateSeed");
  check.want_pk = json_hex(group, "publicKey");
  return check;
}

/// A check of a signature of the message, or of mu if the test has no message.
Check sign_check(const Json& group, const Json& test, bool valid) {
  Check check;
  check.op = POLYKEM_SIGN;
  check.want = valid ? POLYKEM_OK : POLYKEM_ERR_SIZE;
  check.seed_key = true;
  check.sk = json_hex(group, "privateSeed");
  check.message = message_of(test);
  check.message.deterministic = !test.contains("rnd");
  if (test.contains("rnd")) check.coins = json_hex(test, "rnd");
  check.want_sig = output(test, "sig", check.want);
  return check;
}

Check verify_check(const Json& group, const Json& test, bool valid) {
  Check check;
  check.op = POLYKEM_VERIFY;
  check.want = valid ? POLYKEM_OK : POLYKEM_ERR_SIGNATURE;
  check.pk = json_hex(group, "publicKey");
  check.message = message_of(test);
  check.sig = json_hex(test, "sig");
  return check;
}

enum class Schema { kTest, kKeygenSeed, kEncaps, kSemiExpandedDecaps, kSignSeed, kVerify };

Schema schema_of(const Json& root) {
  const std::string name = json_string(root, "schema");
  if (name == "mlkem_test_schema.json") return Schema::kTest;
  if (name == "mlkem_keygen_seed_test_schema.json") return Schema::kKeygenSeed;
  if (name == "mlkem_encaps_test_schema.json") return Schema::kEncaps;
  if (name == "mlkem_semi_expanded_decaps_test_schema.json") return Schema::kSemiExpandedDecaps;
  if (name == "mldsa_sign_seed_schema.json") return Schema::kSignSeed;
  if (name == "mldsa_verify_schema.json") return Schema::kVerify;
  bad_input(fmt::format("unknown Wycheproof schema '{}'; expected one of ML-KEM or ML-DSA", printable(name, 80)));
}

std::vector<Check> checks_of(const Json& group, const Json& test, Schema schema) {
  const std::string result = json_string(test, "result");
  if (result != "valid" && result != "invalid") bad_input(fmt::format("unknown result '{}'", printable(result)));
  const bool valid = result == "valid";
  switch (schema) {
    case Schema::kKeygenSeed:
      if (!valid) bad_input("a key pair whose result is 'invalid'; expected 'valid'");
      return {keygen_check(test)};
    case Schema::kEncaps:
      return {encaps_check(test, valid ? POLYKEM_OK : POLYKEM_ERR_PUBLIC_KEY)};
    case Schema::kSemiExpandedDecaps:
      return {decaps_check(test, false, valid ? POLYKEM_OK : POLYKEM_ERR_SECRET_KEY)};
    case Schema::kSignSeed:
      if (!valid) return {sign_check(group, test, valid)};
      return {signer_check(group), sign_check(group, test, valid)};
    case Schema::kVerify:
      return {verify_check(group, test, valid)};
    case Schema::kTest:
      break;
  }
  if (!valid) return {decaps_check(test, true, POLYKEM_ERR_SECRET_KEY)};
  return {keygen_check(test), decaps_check(test, true, POLYKEM_OK)};
}

}  // namespace

bool is_wycheproof(const Json& root) {
  return root.is_object() && root.contains("schema") && root.contains("testGroups");
}

std::vector<Suite> parse_wycheproof(const Json& root) {
  const Schema schema = schema_of(root);
  std::vector<Suite> suites;
  std::size_t tests = 0;
  for (const Json& group : json_list(root, "testGroups")) {
    const bool signatures = schema == Schema::kSignSeed || schema == Schema::kVerify;
    Suite& suite = suite_for(suites, signatures ? json_string(root, "algorithm") : json_string(group, "parameterSet"));
    for (const Json& test : json_list(group, "tests")) {
      const std::string label = fmt::format("test {}", json_number(test, "tcId"));
      try {
        suite.add_case(label, checks_of(group, test, schema));
      } catch (const CliError& error) {
        bad_input(label + ": " + error.what(), error.hint());
      }
      ++tests;
    }
  }
  if (tests != json_number(root, "numberOfTests"))
    bad_input(fmt::format("{} tests where the file says {}", tests, json_number(root, "numberOfTests")),
              "is it complete?");
  return suites;
}

}  // namespace polykem::cli
