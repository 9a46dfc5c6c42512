// SPDX-License-Identifier: Apache-2.0
// What must hold for every set on every backend, whatever the inputs.
#include <sys/resource.h>

#include <cstring>

#include "prim/keccak/keccak.hpp"
#include "support/batch.hpp"

namespace polykem::test {
namespace {

struct Case {
  std::string set, backend;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.set << " on " << c.backend;
}

class Property : public testing::TestWithParam<Case> {
 protected:
  Context context_ = make_context(GetParam().backend.c_str(), 2);
  const polykem_scheme* set_ = scheme(GetParam().set);
  polykem_scheme_info_t sizes_ = info(set_);
};

TEST_P(Property, RoundTripWithAKeyPerItem) {
  const Exchange exchange(context_.get(), set_, 130, 11);
  EXPECT_EQ(exchange.sender, exchange.receiver);
}

/// NTRU's rejection secret is SHA3-256(PRF key, ct). [NTRU20, Decapsulate]
Bytes rejection_secret(const Bytes& sk, const Bytes& ct) {
  Bytes secret(32);
  sha3_256(secret.data(), std::span(sk).last(32), ct);
  return secret;
}

/// HRSS accepts every ternary m, so a flip that moves m / (x - 1) within {-1, 0, 1} gives another valid ciphertext: it
/// takes the two low bits of a coefficient near the end, because x^i - x^(n-1) over x - 1 is the run x^i + ... +
/// x^(n-2).
bool may_stay_valid(const std::string& set, size_t bit) {
  if (set.rfind("ntruhrss", 0) != 0) return false;
  const size_t n = set == "ntruhrss701" ? 701 : 1373, logq = set == "ntruhrss701" ? 13 : 14;
  return bit / logq + 64 > n && bit % logq < 2;
}

TEST_P(Property, AnyFlippedCiphertextBitYieldsTheRejectionSecret) {
  const Exchange one(context_.get(), set_, 1, 21);
  const size_t bits = 8 * sizes_.ciphertext_bytes;
  const size_t stride = bits / 400 + 1;
  Bytes ct, expected;
  for (size_t bit = 0; bit < bits; bit += bit + 16 < bits ? stride : 1) {
    if (may_stay_valid(GetParam().set, bit)) continue;
    Bytes changed = one.ct;
    changed[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    const Bytes secret = rejection_secret(one.sk, changed);
    ct.insert(ct.end(), changed.begin(), changed.end());
    expected.insert(expected.end(), secret.begin(), secret.end());
  }
  Bytes ss(expected.size());
  ASSERT_EQ(polykem_decaps(context_.get(), set_, ss.size() / 32, POLYKEM_KEY_SHARED, one.sk.data(), ct.data(),
                           ss.data(), nullptr),
            POLYKEM_OK);
  EXPECT_TRUE(ss == expected);
}

TEST_P(Property, ItemsDoNotTouchEachOther) {
  const size_t count = 70;
  const Exchange all(context_.get(), set_, count, 31);
  Bytes ct = all.ct;
  for (size_t i = 0; i < count; i += 3)
    ct[i * sizes_.ciphertext_bytes + i] ^= 1;
  Bytes ss(count * 32);
  ASSERT_EQ(
      polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, all.sk.data(), ct.data(), ss.data(), nullptr),
      POLYKEM_OK);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(std::memcmp(&ss[i * 32], &all.sender[i * 32], 32) == 0, i % 3 != 0) << i;
  }
}

TEST_P(Property, AKeyOfAnotherItemDoesNotDecapsulate) {
  const size_t count = 40;
  const Exchange all(context_.get(), set_, count, 41);
  Bytes rotated(all.sk.begin() + static_cast<ptrdiff_t>(sizes_.secret_key_bytes), all.sk.end());
  rotated.insert(rotated.end(), all.sk.begin(), all.sk.begin() + static_cast<ptrdiff_t>(sizes_.secret_key_bytes));
  Bytes ss(count * 32);
  ASSERT_EQ(polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, rotated.data(), all.ct.data(), ss.data(),
                           nullptr),
            POLYKEM_OK);
  for (size_t i = 0; i < count; ++i)
    EXPECT_NE(0, std::memcmp(&ss[i * 32], &all.sender[i * 32], 32)) << i;
}

TEST_P(Property, EqualDrawsGiveEqualResultsWhereverTheyStandInTheBatch) {
  const size_t count = 67;
  const Exchange all(context_.get(), set_, count, 51);
  const Bytes draws = pattern(count * sizes_.keygen_draw_bytes, 51);
  for (const size_t item : {size_t{0}, size_t{31}, size_t{32}, count - 1}) {
    Bytes pk(sizes_.public_key_bytes), sk(sizes_.secret_key_bytes);
    auto request = make_request(POLYKEM_KEYGEN, set_, 1);
    request.draws = &draws[item * sizes_.keygen_draw_bytes];
    request.pk_out = pk.data();
    request.sk_out = sk.data();
    ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
    EXPECT_EQ(0, std::memcmp(pk.data(), &all.pk[item * pk.size()], pk.size()));
    EXPECT_EQ(0, std::memcmp(sk.data(), &all.sk[item * sk.size()], sk.size()));
  }
}

TEST_P(Property, AgreesWithTheReferenceOnRandomAndExtremeInputs) {
  const Context reference = make_context("ref", 2);
  for (const size_t count : {1, 5, 33, 96}) {
    const Exchange a(context_.get(), set_, count, 61 + count), b(reference.get(), set_, count, 61 + count);
    EXPECT_TRUE(a.pk == b.pk && a.sk == b.sk && a.ct == b.ct && a.sender == b.sender && a.receiver == b.receiver);
    for (const int fill : {0x00, 0xff, 0x55, -1}) {
      const Bytes sk = fill < 0 ? pattern(a.sk.size(), count) : Bytes(a.sk.size(), static_cast<uint8_t>(fill));
      const Bytes ct = fill < 0 ? pattern(a.ct.size(), count + 1) : Bytes(a.ct.size(), static_cast<uint8_t>(fill));
      const Bytes pk = fill < 0 ? pattern(a.pk.size(), count + 2) : Bytes(a.pk.size(), static_cast<uint8_t>(fill));
      const Bytes draws(count * sizes_.encaps_draw_bytes, static_cast<uint8_t>(fill));
      Bytes result[2][3];
      for (int side = 0; side < 2; ++side) {
        auto* context = side == 0 ? context_.get() : reference.get();
        auto& [ss, ct_out, ss_out] = result[side];
        ss.resize(count * 32);
        ss_out.resize(count * 32);
        ct_out.resize(ct.size());
        ASSERT_EQ(polykem_decaps(context, set_, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), ss.data(), nullptr),
                  POLYKEM_OK);
        auto request = make_request(POLYKEM_ENCAPS, set_, count);
        request.pk = pk.data();
        request.draws = draws.data();
        request.ct_out = ct_out.data();
        request.ss_out = ss_out.data();
        ASSERT_EQ(polykem_run(context, &request), POLYKEM_OK);
      }
      for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(result[0][i] == result[1][i]) << "output " << i << " fill " << fill;
    }
  }
}

size_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss);
}

/// The engine's own memory does not grow with the batch: it must stay far below 64 MB.
TEST_P(Property, ALargeBatchNeedsLittleMemoryBeyondItsBuffers) {
  const size_t count = 20000;
  const Exchange one(context_.get(), set_, 1, 71);
  Bytes ct(count * sizes_.ciphertext_bytes, 1), ss(count * 32, 1);
  const size_t before = peak_kilobytes();
  ASSERT_EQ(
      polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_SHARED, one.sk.data(), ct.data(), ss.data(), nullptr),
      POLYKEM_OK);
  EXPECT_LT(peak_kilobytes() - before, 16u * 1024) << "kB";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& backend : available_backends()) {
    for (const auto& name : scheme_names())
      all.push_back({name, backend});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Property, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.set + "_" + info.param.backend; });

}  // namespace
}  // namespace polykem::test
