// SPDX-License-Identifier: Apache-2.0
#include "kat/acvp.hpp"

#include <fmt/format.h>

#include "common/exit_codes.hpp"
#include "common/prehash.hpp"
#include "kat/json_fields.hpp"

namespace polykem::cli {
namespace {

/// A test and its group. A field of the test takes precedence over the group's.
struct Entry {
  const Json& group;
  const Json& test;

  Bytes hex(const char* key) const { return json_hex(test.contains(key) ? test : group, key); }
  Bytes hex(const char* first, const char* second) const {
    Bytes both = hex(first);
    const Bytes rest = hex(second);
    both.insert(both.end(), rest.begin(), rest.end());
    return both;
  }
};

Check keygen_check(const Entry& e) {
  Check check;
  check.op = POLYKEM_KEYGEN;
  check.coins = e.hex("d", "z");
  check.want_pk = e.hex("ek");
  check.want_sk = e.hex("dk");
  return check;
}

Check encaps_check(const Entry& e) {
  Check check;
  check.op = POLYKEM_ENCAPS;
  check.pk = e.hex("ek");
  check.coins = e.hex("m");
  check.want_ct = e.hex("c");
  check.want_ss = e.hex("k");
  return check;
}

Check decaps_check(const Entry& e, bool seed_key) {
  Check check;
  check.op = POLYKEM_DECAPS;
  check.seed_key = seed_key;
  check.sk = seed_key ? e.hex("d", "z") : e.hex("dk");
  check.ct = e.hex("c");
  check.want_ss = e.hex("k");
  return check;
}

/// A check that a key is accepted or refused; the caller fills in the key.
Check key_check(const Entry& e, polykem_op op, polykem_status refusal) {
  Check check;
  check.label = json_string(e.group, "function");
  check.op = op;
  check.key_only = true;
  check.want = json_bool(e.test, "testPassed") ? POLYKEM_OK : refusal;
  return check;
}

Check encaps_key_check(const Entry& e) {
  Check check = key_check(e, POLYKEM_ENCAPS, POLYKEM_ERR_PUBLIC_KEY);
  check.pk = e.hex("ek");
  return check;
}

Check decaps_key_check(const Entry& e) {
  Check check = key_check(e, POLYKEM_DECAPS, POLYKEM_ERR_SECRET_KEY);
  check.sk = e.hex("dk");
  return check;
}

/// True if the keys of a decapsulation group are seeds, false if they are expanded.
bool seed_keys(const Json& group) {
  if (!group.contains("keyFormat")) return false;
  const std::string format = json_string(group, "keyFormat");
  if (format == "seed") return true;
  if (format == "expanded") return false;
  bad_input(fmt::format("unknown key format '{}'", printable(format)));
}

std::vector<Check> checks_of(const Entry& e, const std::string& mode) {
  if (mode == "keyGen") return {keygen_check(e)};
  const std::string function = json_string(e.group, "function");
  if (function == "encapsulation") return {encaps_check(e), decaps_check(e, false)};
  if (function == "encapsulationKeyCheck") return {encaps_key_check(e)};
  if (function == "decapsulationKeyCheck") return {decaps_key_check(e)};
  if (function != "decapsulation") bad_input(fmt::format("unknown function '{}'", printable(function)));
  if (seed_keys(e.group)) return {keygen_check(e), decaps_check(e, true)};
  return {decaps_check(e, false)};
}

Check signer_check(const Entry& e) {
  Check check;
  check.op = POLYKEM_KEYGEN;
  check.coins = e.hex("seed");
  check.want_pk = e.hex("pk");
  check.want_sk = e.hex("sk");
  return check;
}

/// The message of a test. tr: the hash of its public key.
SignedMessage message_of(const Entry& e, ByteView tr) {
  SignedMessage out;
  const auto is = [&](const char* key) { return e.group.contains(key) && json_bool(e.group, key); };
  const bool external =
      e.group.contains("signatureInterface") && json_string(e.group, "signatureInterface") == "external";
  if (!external) {
    out.kind = POLYKEM_MESSAGE_MU;
    out.bytes = is("externalMu") ? e.hex("mu") : shake256_of(tr, e.hex("message"));
    return out;
  }
  out.context = e.hex("context");
  out.bytes = e.hex("message");
  const std::string pre_hash = json_string(e.group, "preHash");
  if (pre_hash == "pure") return out;
  if (pre_hash != "preHash") bad_input(fmt::format("unknown preHash '{}'", printable(pre_hash)));
  Prehash hash(json_string(e.test, "hashAlg"));
  hash.update(out.bytes);
  out.bytes.clear();
  hash.finish(out.bytes);
  out.kind = POLYKEM_MESSAGE_DIGEST;
  out.digest_oid = hash.oid();
  return out;
}

Check sign_check(const Entry& e) {
  constexpr std::size_t kTrAt = 64, kTrBytes = 64;  // [FIPS204, Alg 24]
  Check check;
  check.op = POLYKEM_SIGN;
  check.sk = e.hex("sk");
  if (check.sk.size() < kTrAt + kTrBytes) bad_input("the secret key is too short");
  check.message = message_of(e, {check.sk.data() + kTrAt, kTrBytes});
  check.message.deterministic = json_bool(e.group, "deterministic");
  if (!check.message.deterministic) check.coins = e.hex("rnd");
  check.want_sig = e.hex("signature");
  return check;
}

Check verify_check(const Entry& e) {
  Check check;
  check.op = POLYKEM_VERIFY;
  check.want = json_bool(e.test, "testPassed") ? POLYKEM_OK : POLYKEM_ERR_SIGNATURE;
  check.pk = e.hex("pk");
  check.message = message_of(e, shake256_of(check.pk, {}));
  check.sig = e.hex("signature");
  return check;
}

std::vector<Check> signature_checks_of(const Entry& e, const std::string& mode) {
  if (mode == "keyGen") return {signer_check(e)};
  return {mode == "sigGen" ? sign_check(e) : verify_check(e)};
}

void add_test(Suite& suite, const Entry& e, const std::string& algorithm, const std::string& mode) {
  const std::string label = fmt::format("test {}", json_number(e.test, "tcId"));
  try {
    suite.add_case(label, algorithm == "ML-DSA" ? signature_checks_of(e, mode) : checks_of(e, mode));
  } catch (const CliError& error) {
    bad_input(label + ": " + error.what(), error.hint());
  }
}

}  // namespace

bool is_acvp(const Json& root) {
  return root.is_object() && root.contains("vsId") && root.contains("testGroups");
}

std::vector<Suite> parse_acvp(const Json& root) {
  const std::string algorithm = json_string(root, "algorithm");
  const std::string mode = json_string(root, "mode");
  const bool kem = algorithm == "ML-KEM" && (mode == "keyGen" || mode == "encapDecap");
  const bool signature = algorithm == "ML-DSA" && (mode == "keyGen" || mode == "sigGen" || mode == "sigVer");
  if (!kem && !signature)
    bad_input(
        fmt::format("ACVP vectors of '{}', mode '{}'; expected ML-KEM (keyGen, encapDecap) or ML-DSA (keyGen, "
                    "sigGen, sigVer)",
                    printable(algorithm), printable(mode)));
  std::vector<Suite> suites;
  for (const Json& group : json_list(root, "testGroups")) {
    if (!group.contains("parameterSet"))
      bad_input("a group that does not name its set", "internalProjection.json holds inputs and expected results");
    Suite& suite = suite_for(suites, json_string(group, "parameterSet"));
    for (const Json& test : json_list(group, "tests"))
      add_test(suite, {group, test}, algorithm, mode);
  }
  return suites;
}

}  // namespace polykem::cli
