// SPDX-License-Identifier: Apache-2.0
// Tests of hybrids alone: items with bad points or scalars, keys in their forms. Known answers are in tests/data.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/batch.hpp"

namespace polykem::test {
namespace {

struct Parts {
  const char *set, *kem;
  size_t point_bytes, scalar_bytes;
  bool curve_first, seed_key;
};
constexpr Parts kHybrids[] = {
    {"x25519mlkem768", "mlkem768", 32, 32, false, false},     {"secp256r1mlkem768", "mlkem768", 65, 32, true, false},
    {"secp384r1mlkem1024", "mlkem1024", 97, 48, true, false}, {"mlkem768x25519", "mlkem768", 32, 32, false, true},
    {"mlkem768p256", "mlkem768", 65, 32, false, true},        {"mlkem1024p384", "mlkem1024", 97, 48, false, true},
};

struct Case {
  Parts parts;
  std::string backend;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& backend : available_backends()) {
    for (const Parts& parts : kHybrids) {
      if (computes(backend, parts.set)) all.push_back({parts, backend});
    }
  }
  return all;
}

class Hybrid : public testing::TestWithParam<Case> {
 protected:
  static constexpr size_t kCount = 19, kBad = 7;

  /// Returns where item i's point is in its ciphertext or public key, `kem_bytes` of which are ML-KEM's.
  size_t point_at(size_t i, size_t kem_bytes) const {
    return i * (kem_bytes + parts.point_bytes) + (parts.curve_first ? 0 : kem_bytes);
  }
  std::vector<Bytes> bad_points(const Bytes& good) const {
    if (parts.point_bytes == 32) return {Bytes(32, 0)};  // of small order
    std::vector<Bytes> bad(4, good);
    bad[0].back() ^= 1;                                                  // not on the curve
    bad[1][0] = 2;                                                       // as if it were compressed
    std::fill_n(bad[2].begin() + 1, parts.scalar_bytes, uint8_t{0xff});  // x is not a field element
    std::fill(bad[3].begin(), bad[3].end(), uint8_t{0});                 // infinity, padded
    return bad;
  }

  struct Results {
    polykem_status status;
    Bytes ct, ss;
    std::vector<polykem_status> items;
  };
  Results encaps(const Bytes& pk, size_t count, polykem_key_mode mode = POLYKEM_KEY_PER_ITEM,
                 const polykem_keyset* keys = nullptr) const {
    Results r{POLYKEM_OK, Bytes(count * sizes.ciphertext_bytes, 1), Bytes(count * sizes.shared_secret_bytes, 1),
              std::vector<polykem_status>(count)};
    const Bytes coins = pattern(count * sizes.encaps_coin_bytes, 78);
    polykem_request request = make_request(POLYKEM_ENCAPS, set, count);
    request.key_mode = mode;
    request.keyset = keys;
    request.pk = keys == nullptr ? pk.data() : nullptr;
    request.coins = coins.data();
    request.ct_out = r.ct.data();
    request.ss_out = r.ss.data();
    request.item_status = r.items.data();
    r.status = polykem_run(context.get(), &request);
    return r;
  }
  Results decaps(const Bytes& sk, const Bytes& ct, polykem_key_mode mode = POLYKEM_KEY_PER_ITEM,
                 const polykem_keyset* keys = nullptr, polykem_secret_form form = POLYKEM_SECRET_EXPANDED) const {
    const size_t count = ct.size() / sizes.ciphertext_bytes;
    Results r{POLYKEM_OK, {}, Bytes(count * sizes.shared_secret_bytes, 1), std::vector<polykem_status>(count)};
    polykem_request request = make_request(POLYKEM_DECAPS, set, count);
    request.key_mode = mode;
    request.keyset = keys;
    request.secret_form = form;
    request.sk = keys == nullptr ? sk.data() : nullptr;
    request.ct = ct.data();
    request.ss_out = r.ss.data();
    request.item_status = r.items.data();
    r.status = polykem_run(context.get(), &request);
    return r;
  }
  /// Checks that item kBad failed with this status and zeros, and that other secrets are those of `right`.
  void expect_one_failed(const Results& r, polykem_status status, const Bytes& right) const {
    EXPECT_EQ(r.status, POLYKEM_ERR_ITEMS);
    const size_t bytes = sizes.shared_secret_bytes;
    for (size_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(r.items[i], i == kBad ? status : POLYKEM_OK) << i;
      const Bytes expected = i == kBad ? Bytes(bytes, 0) : Bytes(&right[i * bytes], &right[i * bytes] + bytes);
      EXPECT_EQ(Bytes(&r.ss[i * bytes], &r.ss[i * bytes] + bytes), expected) << i;
    }
  }

  const Parts parts = GetParam().parts;
  const Context context = make_context(GetParam().backend.c_str());
  const polykem_scheme* set = scheme(parts.set);
  const polykem_scheme_info_t sizes = info(set), kem = info(scheme(parts.kem));
  const Exchange all{context.get(), set, kCount, 77};
};

TEST_P(Hybrid, PointsOfPublicKeysAreChecked) {
  const size_t at = point_at(kBad, kem.public_key_bytes);
  const Results right = encaps(all.pk, kCount);
  EXPECT_EQ(right.ss, all.sender);
  for (const Bytes& point : bad_points({&all.pk[at], &all.pk[at] + parts.point_bytes})) {
    Bytes pk = all.pk;
    std::copy(point.begin(), point.end(), pk.begin() + static_cast<ptrdiff_t>(at));
    const Results r = encaps(pk, kCount);
    expect_one_failed(r, POLYKEM_ERR_PUBLIC_KEY, all.sender);
    const auto ct = r.ct.begin() + static_cast<ptrdiff_t>(kBad * sizes.ciphertext_bytes);
    EXPECT_TRUE(std::all_of(ct, ct + static_cast<ptrdiff_t>(sizes.ciphertext_bytes), [](uint8_t b) { return b == 0; }));
  }
}

TEST_P(Hybrid, PointsOfCiphertextsAreChecked) {
  const size_t at = point_at(kBad, kem.ciphertext_bytes);
  for (const Bytes& point : bad_points({&all.ct[at], &all.ct[at] + parts.point_bytes})) {
    Bytes ct = all.ct;
    std::copy(point.begin(), point.end(), ct.begin() + static_cast<ptrdiff_t>(at));
    expect_one_failed(decaps(all.sk, ct), POLYKEM_ERR_CIPHERTEXT, all.sender);
  }
}

TEST_P(Hybrid, ScalarsAreChecked) {
  if (parts.seed_key || parts.point_bytes == 32) GTEST_SKIP() << "its secret keys have no scalars that could be wrong";
  for (const uint8_t byte : {0x00, 0xff}) {
    Bytes sk = all.sk;
    std::fill_n(sk.begin() + static_cast<ptrdiff_t>(kBad * sizes.secret_key_bytes), parts.scalar_bytes, byte);
    expect_one_failed(decaps(sk, all.ct), POLYKEM_ERR_SECRET_KEY, all.sender);
  }
}

TEST_P(Hybrid, AChangedBitOfTheLatticeYieldsAnotherSecret) {
  const size_t kem_at = parts.curve_first ? parts.point_bytes : 0;
  for (size_t bit = 0; bit < 8 * kem.ciphertext_bytes; bit += 333) {
    Bytes ct = all.ct;
    for (size_t i = 0; i < kCount; ++i)
      ct[i * sizes.ciphertext_bytes + kem_at + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const Results r = decaps(all.sk, ct);
    EXPECT_EQ(r.status, POLYKEM_OK);
    for (size_t i = 0; i < kCount; ++i) {
      const size_t from = i * sizes.shared_secret_bytes;
      EXPECT_FALSE(std::equal(&r.ss[from], &r.ss[from] + sizes.shared_secret_bytes, &all.sender[from])) << bit;
    }
  }
}

TEST_P(Hybrid, KeysOfEveryFormGiveTheSameSecrets) {
  const auto import = [&](polykem_key_kind kind, const Bytes& keys) {
    polykem_keyset* out = nullptr;
    EXPECT_EQ(polykem_keyset_import(context.get(), set, kind, kCount, keys.data(), &out), POLYKEM_OK);
    return std::unique_ptr<polykem_keyset, decltype(&polykem_keyset_free)>(out, polykem_keyset_free);
  };
  const auto publics = import(POLYKEM_PUBLIC_KEYS, all.pk), secrets = import(POLYKEM_SECRET_KEYS, all.sk);
  EXPECT_EQ(encaps({}, kCount, POLYKEM_KEY_PER_ITEM, publics.get()).ss, all.sender);
  EXPECT_EQ(decaps({}, all.ct, POLYKEM_KEY_PER_ITEM, secrets.get()).ss, all.sender);

  const Bytes first_pk(all.pk.begin(), all.pk.begin() + static_cast<ptrdiff_t>(sizes.public_key_bytes));
  const Bytes first_sk(all.sk.begin(), all.sk.begin() + static_cast<ptrdiff_t>(sizes.secret_key_bytes));
  const Results one_key = encaps(first_pk, kCount, POLYKEM_KEY_SHARED);
  EXPECT_EQ(encaps({}, kCount, POLYKEM_KEY_SHARED, publics.get()).ss, one_key.ss);
  EXPECT_EQ(decaps(first_sk, one_key.ct, POLYKEM_KEY_SHARED).ss, one_key.ss);
  EXPECT_EQ(decaps({}, one_key.ct, POLYKEM_KEY_SHARED, secrets.get()).ss, one_key.ss);

  if (parts.seed_key) return;
  const Bytes seeds = pattern(kCount * sizes.keygen_coin_bytes, 77);
  const auto from_seeds = import(POLYKEM_SECRET_SEEDS, seeds);
  EXPECT_EQ(decaps({}, all.ct, POLYKEM_KEY_PER_ITEM, from_seeds.get()).ss, all.sender);
  EXPECT_EQ(decaps(seeds, all.ct, POLYKEM_KEY_PER_ITEM, nullptr, POLYKEM_SECRET_SEED).ss, all.sender);
}

TEST_P(Hybrid, ABadSharedKeyFailsEveryItem) {
  const size_t at = point_at(0, kem.public_key_bytes);
  Bytes pk(all.pk.begin(), all.pk.begin() + static_cast<ptrdiff_t>(sizes.public_key_bytes));
  const Bytes bad = bad_points({&pk[at], &pk[at] + parts.point_bytes}).front();
  std::copy(bad.begin(), bad.end(), pk.begin() + static_cast<ptrdiff_t>(at));
  const Results r = encaps(pk, kCount, POLYKEM_KEY_SHARED);
  EXPECT_EQ(r.status, POLYKEM_ERR_ITEMS);
  EXPECT_EQ(r.items, std::vector<polykem_status>(kCount, POLYKEM_ERR_PUBLIC_KEY));
  EXPECT_EQ(r.ss, Bytes(r.ss.size(), 0));
  EXPECT_EQ(r.ct, Bytes(r.ct.size(), 0));
}

INSTANTIATE_TEST_SUITE_P(All, Hybrid, testing::ValuesIn(cases()), [](const testing::TestParamInfo<Case>& info) {
  return test_name({info.param.parts.set, info.param.backend});
});

}  // namespace
}  // namespace polykem::test
