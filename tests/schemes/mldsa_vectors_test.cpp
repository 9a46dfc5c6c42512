// SPDX-License-Identifier: Apache-2.0
// Tests NIST's and Wycheproof's vectors of ML-DSA on every backend.
#include <nlohmann/json.hpp>

#include "common/input.hpp"
#include "prim/keccak/keccak.hpp"
#include "support/signer.hpp"

namespace polykem::test {
namespace {

using Json = nlohmann::json;

/// Calls `check` with each test of a file and its group. Returns how many of them it has checked.
template <class Check>
size_t count_checked(const std::string& name, Check&& check) {
  const Json vectors =
      Json::parse(cli::read_text_maybe_gzip(std::string(POLYKEM_MLDSA_VECTORS "/") + name + ".json.gz"));
  size_t checked = 0;
  for (const Json& group : vectors["testGroups"]) {
    for (const Json& test : group["tests"]) {
      SCOPED_TRACE(test["tcId"]);
      checked += check(group, test) ? 1 : 0;
    }
  }
  return checked;
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

class Vectors : public testing::TestWithParam<std::string> {
 protected:
  /// As count_checked; the groups name their parameter sets.
  template <class Check>
  size_t count_of_acvp(const std::string& name, Check&& check) const {
    return count_checked(name, [&](const Json& group, const Json& test) {
      check(Signer(group["parameterSet"], GetParam()), group, test);
      return true;
    });
  }
};

/// [FIPS204, Alg 6]
TEST_P(Vectors, AcvpKeygen) {
  const size_t cases = count_of_acvp("acvp_key-gen", [](const Signer& signer, const Json&, const Json& test) {
    Bytes pk, sk;
    signer.keygen(1, field(test, "seed"), pk, sk);
    EXPECT_EQ(pk, field(test, "pk"));
    EXPECT_EQ(sk, field(test, "sk"));
  });
  EXPECT_EQ(cases, 15U);
}

/// These call Sign_internal, whose message is all that follows tr. [FIPS204, Alg 7]
TEST_P(Vectors, AcvpSign) {
  const size_t cases = count_of_acvp("acvp_sig-gen", [](const Signer& signer, const Json&, const Json& test) {
    const Bytes sk = field(test, "sk"), rnd = field(test, "rnd");
    const Bytes mu = shake256(Bytes(sk.begin() + 64, sk.begin() + 128), field(test, "message"));
    polykem_messages messages = mu_of(mu);
    messages.deterministic = rnd.empty() ? 1 : 0;
    EXPECT_EQ(signer.sign(1, sk, messages, rnd), field(test, "signature"));
  });
  EXPECT_EQ(cases, 30U);
}

/// [FIPS204, Alg 8]
TEST_P(Vectors, AcvpVerify) {
  const size_t cases = count_of_acvp("acvp_sig-ver", [](const Signer& signer, const Json& group, const Json& test) {
    const Bytes pk = field(group, "pk"), mu = shake256(shake256(pk, {}), field(test, "message"));
    const auto items = signer.verify(1, pk, mu_of(mu), field(test, "signature"));
    EXPECT_EQ(items[0], test["testPassed"] ? POLYKEM_OK : POLYKEM_ERR_SIGNATURE);
  });
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

/// Takes the key pair from the seed or the expanded private key. Returns false if neither is valid.
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
  const size_t cases = count_checked(file, [&](const Json& group, const Json& test) {
    Bytes pk, sk;
    if (!find_keys(signer, group, pk, sk)) return false;
    EXPECT_EQ(pk, field(group, "publicKey"));
    const Bytes message = field(test, "msg"), context = field(test, "ctx"), mu = field(test, "mu");
    polykem_messages messages = test.contains("msg") ? messages_of(test, message, context) : mu_of(mu);
    messages.deterministic = test.contains("rnd") ? 0 : 1;
    if (test["result"] == "invalid") {
      Bytes out(signer.info.signature_bytes);
      polykem_request r = signer.request(POLYKEM_SIGN, 1);
      r.sk = sk.data();
      r.messages = &messages;
      r.sig_out = out.data();
      EXPECT_EQ(polykem_run(signer.context.get(), &r), POLYKEM_ERR_ARGUMENT);
    } else {
      const Bytes sig = signer.sign(1, sk, messages, field(test, "rnd"));
      EXPECT_EQ(sig, field(test, "sig"));
      EXPECT_EQ(signer.verify(1, pk, messages, sig)[0], POLYKEM_OK);
    }
    return true;
  });
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

/// Cases whose key, signature or context has another length than the set's never reach the library.
void verify_like_wycheproof(const std::string& set, const std::string& file, const std::string& backend) {
  const Signer signer(set, backend);
  size_t valid = 0;
  const size_t checked = count_checked(file, [&](const Json& group, const Json& test) {
    const Bytes pk = field(group, "publicKey"), sig = field(test, "sig");
    const Bytes message = field(test, "msg"), context = field(test, "ctx");
    const bool expected = test["result"] == "valid";
    if (pk.size() != signer.info.public_key_bytes || sig.size() != signer.info.signature_bytes ||
        context.size() > 255) {
      EXPECT_FALSE(expected);
      return false;
    }
    const auto items = signer.verify(1, pk, messages_of(test, message, context), sig);
    EXPECT_EQ(items[0], expected ? POLYKEM_OK : POLYKEM_ERR_SIGNATURE);
    valid += expected ? 1 : 0;
    return true;
  });
  EXPECT_GT(valid, 50U);
  EXPECT_GT(checked - valid, 50U);
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
}  // namespace polykem::test
