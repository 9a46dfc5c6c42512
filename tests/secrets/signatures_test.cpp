// SPDX-License-Identifier: Apache-2.0
// Tests that ML-DSA leaves no secret in any memory but the caller's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "own_batch.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/mldsa/packing.hpp"

namespace polykem::test {
namespace {

constexpr size_t kMuBytes = 64, kSeed = 32;

/// A batch of signatures in the test's own memory: keys of seeds, messages, the random inputs.
struct OwnSignatures {
  OwnSignatures(const polykem_scheme* set, size_t n) : scheme(set), sizes(info(set)), count(n) {
    const auto array = [&](size_t bytes) { return own_memory(count * bytes); };
    seeds = array(kSeed);
    rnd = array(kSeed);
    pk = array(sizes.public_key_bytes);
    sk = array(sizes.secret_key_bytes);
    sig = array(sizes.signature_bytes);
    texts = array(kMuBytes);
    static uint64_t seed = 1000;
    inspect([&] {
      Noise noise(++seed);
      noise.fill(seeds);
      noise.fill(rnd);
    });
    messages = {sizeof messages, POLYKEM_MESSAGE, {texts.data(), nullptr, kMuBytes, 0}, {}, nullptr, 0, 0};
  }

  polykem_request request(polykem_op op) const {
    polykem_request r = make_request(op, scheme, count);
    r.coins = op == POLYKEM_KEYGEN ? seeds.data() : rnd.data();
    r.pk_out = pk.data();
    r.sk_out = sk.data();
    r.pk = pk.data();
    r.sk = sk.data();
    r.messages = &messages;
    r.sig = sig.data();
    r.sig_out = sig.data();
    return r;
  }

  const polykem_scheme* scheme;
  polykem_scheme_info_t sizes;
  size_t count;
  std::span<uint8_t> seeds, rnd, pk, sk, sig, texts;
  polykem_messages messages;
};

/// Returns the packed s1 and s2 of a private key: 3 bits per coefficient with eta = 2, otherwise 4 [FIPS204, Alg 24].
size_t packed_secrets(const polykem_scheme_info_t& sizes) {
  const std::string set = sizes.name;
  return set == "mldsa44" ? 8 * 96 : set == "mldsa65" ? 11 * 128 : 15 * 96;
}

std::span<const uint8_t> bytes_of(const mldsa::Poly& poly) {
  return {reinterpret_cast<const uint8_t*>(poly.c), sizeof poly.c};
}

/// The values that the first attempts compute from a private key and rnd: rho'', and y as bytes and as coefficients;
/// and s1.
/// [FIPS204, Alg 7, L1, L6-11]
template <mldsa::MldsaParams P>
void add_intermediates(Needles& needles, std::span<const uint8_t> sk, std::span<const uint8_t> rnd,
                       std::span<const uint8_t> text) {
  constexpr size_t kAttempts = 8, kFourCoefficients = 16, kSmallCoefficients = 128;
  const auto hash = [](std::span<uint8_t> out, std::initializer_list<std::span<const uint8_t>> parts) {
    Shake xof(Shake::Strength::kShake256);
    for (const auto part : parts)
      xof.absorb(part);
    xof.squeeze(out);
  };
  const uint8_t head[] = {0, 0};
  uint8_t mu[kMuBytes], mask_seed[mldsa::kDigestBytes], bytes[P.z_bytes()];
  hash(mu, {sk.subspan(P.tr_offset(), mldsa::kDigestBytes), head, text});
  hash(mask_seed, {sk.subspan(P.k_offset(), mldsa::kSeedBytes), rnd, mu});
  needles.add("rho''", mask_seed, 8);
  mldsa::Poly poly;
  for (size_t kappa = 0; kappa < kAttempts * P.l; ++kappa) {
    const uint8_t nonce[] = {static_cast<uint8_t>(kappa), 0};
    hash(bytes, {mask_seed, nonce});
    needles.add("bytes of y", bytes, 8);
    mldsa::unpack_below<P.z_bits()>(poly, bytes, P.gamma1());
    needles.add("y", bytes_of(poly), kFourCoefficients);
  }
  for (size_t i = 0; i < P.l; ++i) {
    mldsa::unpack_below<P.eta_bits()>(poly, sk.data() + P.s1_offset() + i * P.eta_bytes(), P.eta);
    needles.add("s1", bytes_of(poly), kSmallCoefficients);
  }
}

std::unique_ptr<Needles> secrets_of(const OwnSignatures& batch) {
  auto needles = std::make_unique<Needles>();
  const std::string set = batch.sizes.name;
  auto* const add = set == "mldsa44"   ? add_intermediates<mldsa::kMldsa44>
                    : set == "mldsa65" ? add_intermediates<mldsa::kMldsa65>
                                       : add_intermediates<mldsa::kMldsa87>;
  inspect([&] {
    for (size_t i = 0; i < batch.count; i += 20) {
      const auto sk = batch.sk.subspan(i * batch.sizes.secret_key_bytes, batch.sizes.secret_key_bytes);
      needles->add("K of the private key", sk.subspan(32, 32), 8);
      needles->add("s1, s2 of the private key", sk.subspan(128, packed_secrets(batch.sizes)), 8);
      add(*needles, sk, batch.rnd.subspan(i * kSeed, kSeed), batch.texts.subspan(i * kMuBytes, kMuBytes));
    }
    needles->add("seeds of keys", batch.seeds, 8);
    needles->add("rnd", batch.rnd, 8);
  });
  return needles;
}

struct SignatureCase {
  std::string set, backend;
  size_t count;
  unsigned threads;
};

void PrintTo(const SignatureCase& c, std::ostream* out) {
  *out << c.set << ' ' << c.backend << ' ' << c.count;
}

std::vector<SignatureCase> signature_cases() {
  std::vector<SignatureCase> out;
  for (const auto& backend : available_backends()) {
    if (backend == "amx" || backend == "cuda" || backend == "rtl") continue;
    out.push_back({"mldsa44", backend, 1, 1});
    out.push_back({"mldsa65", backend, 37, 2});
    out.push_back({"mldsa87", backend, 9, 1});
  }
  return out;
}

class SecretsOfSignatures : public testing::TestWithParam<SignatureCase> {};

TEST_P(SecretsOfSignatures, NoneIsLeftInMemory) {
  const auto& [set, backend, count, threads] = GetParam();
  const polykem_scheme* scheme = nullptr;
  ASSERT_EQ(polykem_signature_find(set.c_str(), &scheme), POLYKEM_OK);
  const Context context = make_context(backend.c_str(), threads);
  const OwnSignatures batch(scheme, count);
  std::unique_ptr<Needles> needles;  // once there are keys
  const auto run = [&](const polykem_request& request, const char* what) {
    polykem_status status = POLYKEM_ERR_INTERNAL;
    const LastingThread caller([&] { status = polykem_run(context.get(), &request); });
    ASSERT_EQ(status, POLYKEM_OK) << what;
    if (needles == nullptr) needles = secrets_of(batch);
    ASSERT_GT(needles->size(), 50u);
    EXPECT_EQ(needles->find(), "") << "after " << what;
  };
  run(batch.request(POLYKEM_KEYGEN), "keygen");
  run(batch.request(POLYKEM_SIGN), "sign");
  run(batch.request(POLYKEM_VERIFY), "verify");
  polykem_request by_seeds = batch.request(POLYKEM_SIGN);
  by_seeds.sk = batch.seeds.data();
  by_seeds.secret_form = POLYKEM_SECRET_SEED;
  run(by_seeds, "sign by seeds");
  polykem_keyset* keys = nullptr;
  ASSERT_EQ(polykem_keyset_import(context.get(), scheme, POLYKEM_SECRET_SEEDS, count, batch.seeds.data(), &keys),
            POLYKEM_OK);
  polykem_request by_set = batch.request(POLYKEM_SIGN);
  by_set.sk = nullptr;
  by_set.keyset = keys;
  EXPECT_EQ(polykem_run(context.get(), &by_set), POLYKEM_OK);
  polykem_keyset_free(keys);
  run(batch.request(POLYKEM_VERIFY), "a key set");
}

INSTANTIATE_TEST_SUITE_P(Sets, SecretsOfSignatures, testing::ValuesIn(signature_cases()), [](const auto& info) {
  return test_name({info.param.set, info.param.backend, std::to_string(info.param.count)});
});

}  // namespace
}  // namespace polykem::test
