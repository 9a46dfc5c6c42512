// SPDX-License-Identifier: Apache-2.0
// Tests NIST's and Wycheproof's vectors of ML-DSA on every backend.
#include <nlohmann/json.hpp>

#include "common/input.hpp"
#include "prim/keccak/keccak.hpp"
#include "support/signer.hpp"

namespace polykem::mldsa_tests {
namespace {

using Json = nlohmann::json;

Json read(const std::string& name) {
  return Json::parse(cli::read_text_maybe_gzip(std::string(POLYKEM_MLDSA_VECTORS "/") + name + ".json.gz"));
}

Bytes from_hex(const std::string& hex) {
  Bytes out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return out;
}

Bytes field(const Json& test, const char* name) {
  return test.contains(name) ? from_hex(test[name].get<std::string>()) : Bytes{};
}

Bytes shake256(const Bytes& first, const Bytes& second) {
  Bytes out(64);
  Shake xof(Shake::Strength::kShake256);
  xof.absorb(first);
  xof.absorb(second);
  xof.squeeze(out);
  return out;
}

polykem_messages mu_of(const Bytes& mu) {
  polykem_messages m = Signer::messages(strings(mu, 64));
  m.kind = POLYKEM_MESSAGE_MU;
  return m;
}

class Vectors : public testing::TestWithParam<std::string> {};

/// [FIPS204, Alg 6]
TEST_P(Vectors, AcvpKeygen) {
  size_t cases = 0;
  const Json vectors = read("acvp_key-gen");
  for (const Json& group : vectors["testGroups"]) {
    const Signer signer(group["parameterSet"], GetParam());
    for (const Json& test : group["tests"]) {
      Bytes pk, sk;
      signer.keygen(1, field(test, "seed"), pk, sk);
      EXPECT_EQ(pk, field(test, "pk")) << test["tcId"];
      EXPECT_EQ(sk, field(test, "sk")) << test["tcId"];
      ++cases;
    }
  }
  EXPECT_EQ(cases, 15U);
}

/// These call Sign_internal, whose message is all that follows tr. [FIPS204, Alg 7]
TEST_P(Vectors, AcvpSign) {
  size_t cases = 0;
  const Json vectors = read("acvp_sig-gen");
  for (const Json& group : vectors["testGroups"]) {
    const Signer signer(group["parameterSet"], GetParam());
    for (const Json& test : group["tests"]) {
      const Bytes sk = field(test, "sk"), rnd = field(test, "rnd");
      const Bytes mu = shake256(Bytes(sk.begin() + 64, sk.begin() + 128), field(test, "message"));
      polykem_messages messages = mu_of(mu);
      messages.deterministic = rnd.empty() ? 1 : 0;
      EXPECT_EQ(signer.sign(1, sk, messages, rnd), field(test, "signature")) << test["tcId"];
      ++cases;
    }
  }
  EXPECT_EQ(cases, 30U);
}

/// [FIPS204, Alg 8]
TEST_P(Vectors, AcvpVerify) {
  size_t cases = 0;
  const Json vectors = read("acvp_sig-ver");
  for (const Json& group : vectors["testGroups"]) {
    const Signer signer(group["parameterSet"], GetParam());
    const Bytes pk = field(group, "pk"), tr = shake256(pk, {});
    for (const Json& test : group["tests"]) {
      const Bytes mu = shake256(tr, field(test, "message"));
      const auto items = signer.verify(1, pk, mu_of(mu), field(test, "signature"));
      EXPECT_EQ(items[0], test["testPassed"] ? POLYKEM_OK : POLYKEM_ERR_SIGNATURE) << test["tcId"];
      ++cases;
    }
  }
  EXPECT_EQ(cases, 45U);
}

polykem_messages messages_of(const Json& test, const Bytes& message, const Bytes& context) {
  polykem_messages m = Signer::messages(strings(message, message.size()), strings(context, context.size()));
  m.deterministic = test.contains("rnd") ? 0 : 1;
  return m;
}

bool is_damaged(const Json& group) {
  for (const Json& flag : group["tests"][0]["flags"])
    if (flag == "InvalidPrivateKey") return true;
  return false;
}

/// Signs from the seed or the expanded private key. Returns false without a valid private key.
bool find_keys(const Signer& signer, const Json& group, Bytes& pk, Bytes& sk) {
  const Bytes seed = field(group, "privateSeed");
  sk = field(group, "privateKey");
  if (seed.size() == signer.info.secret_seed_bytes) {
    signer.keygen(1, seed, pk, sk);
    return true;
  }
  if (sk.size() != signer.info.secret_key_bytes) return false;  // the caller knows the length
  pk.resize(signer.info.public_key_bytes);
  const bool damaged = is_damaged(group);
  EXPECT_EQ(polykem_public_key_of(signer.scheme, sk.data(), pk.data()), damaged ? POLYKEM_ERR_SECRET_KEY : POLYKEM_OK);
  return !damaged;
}

void sign_like_wycheproof(const std::string& set, const std::string& file, const std::string& backend,
                          size_t expected) {
  const Signer signer(set, backend);
  size_t cases = 0;
  const Json vectors = read(file);
  for (const Json& group : vectors["testGroups"]) {
    Bytes pk, sk;
    if (!find_keys(signer, group, pk, sk)) continue;
    EXPECT_EQ(pk, field(group, "publicKey"));
    for (const Json& test : group["tests"]) {
      const Bytes message = field(test, "msg"), context = field(test, "ctx"), mu = field(test, "mu");
      if (test["result"] == "invalid") {
        Bytes out(signer.info.signature_bytes);
        const polykem_messages messages = messages_of(test, message, context);
        polykem_request r = signer.request(POLYKEM_SIGN, 1);
        r.sk = sk.data();
        r.messages = &messages;
        r.sig_out = out.data();
        EXPECT_EQ(polykem_run(signer.context.get(), &r), POLYKEM_ERR_ARGUMENT) << test["tcId"];
      } else {
        const bool has_message = test.contains("msg");
        polykem_messages messages = has_message ? messages_of(test, message, context) : mu_of(mu);
        messages.deterministic = test.contains("rnd") ? 0 : 1;
        const Bytes sig = signer.sign(1, sk, messages, field(test, "rnd"));
        EXPECT_EQ(sig, field(test, "sig")) << test["tcId"];
        EXPECT_EQ(signer.verify(1, pk, messages, sig)[0], POLYKEM_OK);
      }
      ++cases;
    }
  }
  EXPECT_EQ(cases, expected);
}

TEST_P(Vectors, WycheproofSign44) {
  sign_like_wycheproof("ML-DSA-44", "mldsa_44_sign_seed_test", GetParam(), 83);
}
TEST_P(Vectors, WycheproofSign65) {
  sign_like_wycheproof("ML-DSA-65", "mldsa_65_sign_seed_test", GetParam(), 102);
}
TEST_P(Vectors, WycheproofSign87) {
  sign_like_wycheproof("ML-DSA-87", "mldsa_87_sign_seed_test", GetParam(), 93);
}
TEST_P(Vectors, WycheproofSignWithExpandedKeys) {
  sign_like_wycheproof("ML-DSA-44", "mldsa_44_sign_noseed_test", GetParam(), 69);
}

/// Returns whether everything has the set's lengths; other cases never reach the library.
void verify_like_wycheproof(const std::string& set, const std::string& file, const std::string& backend) {
  const Signer signer(set, backend);
  size_t valid = 0, invalid = 0;
  const Json vectors = read(file);
  for (const Json& group : vectors["testGroups"]) {
    const Bytes pk = field(group, "publicKey");
    for (const Json& test : group["tests"]) {
      const Bytes message = field(test, "msg"), context = field(test, "ctx"), sig = field(test, "sig");
      if (pk.size() != signer.info.public_key_bytes || sig.size() != signer.info.signature_bytes ||
          context.size() > 255) {
        EXPECT_EQ(test["result"], "invalid");
        continue;
      }
      const bool expected = test["result"] == "valid";
      const auto items = signer.verify(1, pk, messages_of(test, message, context), sig);
      EXPECT_EQ(items[0], expected ? POLYKEM_OK : POLYKEM_ERR_SIGNATURE) << test["tcId"];
      ++(expected ? valid : invalid);
    }
  }
  EXPECT_GT(valid, 50U);
  EXPECT_GT(invalid, 50U);
}

TEST_P(Vectors, WycheproofVerify44) {
  verify_like_wycheproof("ML-DSA-44", "mldsa_44_verify_test", GetParam());
}
TEST_P(Vectors, WycheproofVerify65) {
  verify_like_wycheproof("ML-DSA-65", "mldsa_65_verify_test", GetParam());
}
TEST_P(Vectors, WycheproofVerify87) {
  verify_like_wycheproof("ML-DSA-87", "mldsa_87_verify_test", GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, Vectors, testing::ValuesIn(backends()),
                         [](const auto& info) { return info.param == "neon-sha3" ? "neon_sha3" : info.param; });

}  // namespace
}  // namespace polykem::mldsa_tests
