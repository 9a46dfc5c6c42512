// SPDX-License-Identifier: Apache-2.0
// Tests all forms of keys: records, seeds, key sets; and keys that a standard refuses.
#include <algorithm>
#include <cstring>

#include "support/batch.hpp"

namespace polykem::test {
namespace {

struct FreeKeySet {
  void operator()(polykem_keyset* set) const { polykem_keyset_free(set); }
};
using KeySet = std::unique_ptr<polykem_keyset, FreeKeySet>;

struct Case {
  std::string set, backend;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.set << " on " << c.backend;
}

constexpr size_t kCount = 37;

class Keys : public testing::TestWithParam<Case> {
 protected:
  KeySet import(polykem_key_kind kind, const Bytes& keys, size_t count) {
    polykem_keyset* set = nullptr;
    EXPECT_EQ(polykem_keyset_import(context_.get(), set_, kind, count, keys.data(), &set), POLYKEM_OK);
    return KeySet(set);
  }

  polykem_request decaps(const uint8_t* ct, size_t count) {
    auto request = make_request(POLYKEM_DECAPS, set_, count);
    request.ct = ct;
    request.ss_out = ss_.data();
    request.item_status = status_.data();
    return request;
  }

  polykem_request encaps(const Bytes& coins, size_t count) {
    auto request = make_request(POLYKEM_ENCAPS, set_, count);
    request.coins = coins.data();
    request.ct_out = ct_.data();
    request.ss_out = ss_.data();
    request.item_status = status_.data();
    return request;
  }

  Context context_ = make_context(GetParam().backend.c_str(), 2);
  const polykem_scheme* set_ = scheme(GetParam().set);
  polykem_scheme_info_t sizes_ = info(set_);
  const Exchange made_{context_.get(), set_, kCount, 5};
  const Bytes keygen_coins_ = pattern(kCount * sizes_.keygen_coin_bytes, 5);
  const Bytes encaps_coins_ = pattern(kCount * sizes_.encaps_coin_bytes, 6);
  Bytes ct_ = Bytes(kCount * sizes_.ciphertext_bytes);
  Bytes ss_ = Bytes(kCount * sizes_.shared_secret_bytes);
  std::vector<polykem_status> status_ = std::vector<polykem_status>(kCount);
};

TEST_P(Keys, PublicKeySetsEncapsulateAsTheirRecordsDo) {
  const KeySet set = import(POLYKEM_PUBLIC_KEYS, made_.pk, kCount);
  auto request = encaps(encaps_coins_, kCount);
  request.keyset = set.get();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_TRUE(ct_ == made_.ct && ss_ == made_.sender);
}

TEST_P(Keys, SecretKeySetsDecapsulateInAnyOrder) {
  const KeySet set = import(POLYKEM_SECRET_KEYS, made_.sk, kCount);
  std::vector<size_t> index(kCount);
  Bytes ct;
  for (size_t i = 0; i < kCount; ++i) {
    index[i] = (i * 5 + 3) % kCount;
    const auto at = made_.ct.begin() + static_cast<ptrdiff_t>(index[i] * sizes_.ciphertext_bytes);
    ct.insert(ct.end(), at, at + static_cast<ptrdiff_t>(sizes_.ciphertext_bytes));
  }
  auto request = decaps(ct.data(), kCount);
  request.keyset = set.get();
  request.key_index = index.data();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  const size_t bytes = sizes_.shared_secret_bytes;
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_EQ(0, std::memcmp(&ss_[i * bytes], &made_.sender[index[i] * bytes], bytes)) << i;
}

TEST_P(Keys, OneKeyOfASetServesTheWholeBatch) {
  const KeySet set = import(POLYKEM_PUBLIC_KEYS, made_.pk, kCount);
  const size_t key = 11;
  Bytes by_record_ct(ct_.size()), by_record_ss(ss_.size());
  auto request = encaps(encaps_coins_, kCount);
  request.key_mode = POLYKEM_KEY_SHARED;
  request.pk = &made_.pk[key * sizes_.public_key_bytes];
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  ct_.swap(by_record_ct);
  ss_.swap(by_record_ss);
  request = encaps(encaps_coins_, kCount);
  request.key_mode = POLYKEM_KEY_SHARED;
  request.keyset = set.get();
  request.key_index = &key;
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_TRUE(ct_ == by_record_ct && ss_ == by_record_ss);
}

TEST_P(Keys, SeedsDecapsulateAsTheKeysMadeFromThem) {
  auto request = decaps(made_.ct.data(), kCount);
  request.sk = keygen_coins_.data();
  request.secret_form = POLYKEM_SECRET_SEED;
  if (sizes_.secret_seed_bytes == 0) {
    EXPECT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_ARGUMENT);
    polykem_keyset* none = nullptr;
    EXPECT_EQ(polykem_keyset_import(context_.get(), set_, POLYKEM_SECRET_SEEDS, 1, keygen_coins_.data(), &none),
              POLYKEM_ERR_ARGUMENT);
    return;
  }
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_TRUE(ss_ == made_.sender);

  const KeySet set = import(POLYKEM_SECRET_SEEDS, keygen_coins_, kCount);
  std::fill(ss_.begin(), ss_.end(), 0);
  request = decaps(made_.ct.data(), kCount);
  request.keyset = set.get();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_TRUE(ss_ == made_.sender);

  request = decaps(made_.ct.data(), 1);
  request.key_mode = POLYKEM_KEY_SHARED;
  request.sk = keygen_coins_.data();
  request.secret_form = POLYKEM_SECRET_SEED;
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_EQ(0, std::memcmp(ss_.data(), made_.sender.data(), sizes_.shared_secret_bytes));
}

/// Expects `error` for the items in `bad`, whose keys are malformed, and the usual results for all others.
void expect_only(const std::vector<size_t>& bad, polykem_status error, const std::vector<polykem_status>& status,
                 const Bytes& got, const Bytes& right) {
  const size_t bytes = right.size() / kCount;
  const Bytes zero(bytes);
  for (size_t i = 0; i < kCount; ++i) {
    const bool is_bad = std::find(bad.begin(), bad.end(), i) != bad.end();
    EXPECT_EQ(status[i], is_bad ? error : POLYKEM_OK) << i;
    EXPECT_EQ(0, std::memcmp(&got[i * bytes], is_bad ? zero.data() : &right[i * bytes], bytes)) << i;
  }
}

const std::vector<size_t> kBad{0, 9, 31, 32, kCount - 1};

/// Sets whose standard refuses keys.
class CheckedKeys : public Keys {};

TEST_P(CheckedKeys, APublicKeyOutOfRangeFailsItsItemAlone) {
  Bytes pk = made_.pk;
  for (const size_t i : kBad) {  // the first coefficient becomes q or more [FIPS203, 7.2]
    pk[i * sizes_.public_key_bytes] = 0x01;
    pk[i * sizes_.public_key_bytes + 1] |= 0x0d;
  }
  const KeySet set = import(POLYKEM_PUBLIC_KEYS, pk, kCount);
  for (const bool by_set : {false, true}) {
    std::fill(ct_.begin(), ct_.end(), 0xaa);
    std::fill(ss_.begin(), ss_.end(), 0xaa);
    auto request = encaps(encaps_coins_, kCount);
    request.keyset = by_set ? set.get() : nullptr;
    request.pk = by_set ? nullptr : pk.data();
    ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_ITEMS);
    expect_only(kBad, POLYKEM_ERR_PUBLIC_KEY, status_, ct_, made_.ct);
    expect_only(kBad, POLYKEM_ERR_PUBLIC_KEY, status_, ss_, made_.sender);
  }
  auto request = encaps(encaps_coins_, kCount);
  request.key_mode = POLYKEM_KEY_SHARED;
  request.pk = pk.data();
  EXPECT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_ITEMS);
  EXPECT_EQ(std::count(status_.begin(), status_.end(), POLYKEM_ERR_PUBLIC_KEY), static_cast<ptrdiff_t>(kCount));
}

TEST_P(CheckedKeys, ASecretKeyWithAnotherHashFailsItsItemAlone) {
  Bytes sk = made_.sk;
  for (const size_t i : kBad)
    sk[(i + 1) * sizes_.secret_key_bytes - 64 + i % 32] ^= 1;  // in H(ek) [FIPS203, 7.3]
  const KeySet set = import(POLYKEM_SECRET_KEYS, sk, kCount);
  for (const bool by_set : {false, true}) {
    std::fill(ss_.begin(), ss_.end(), 0xaa);
    auto request = decaps(made_.ct.data(), kCount);
    request.keyset = by_set ? set.get() : nullptr;
    request.sk = by_set ? nullptr : sk.data();
    ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_ERR_ITEMS);
    expect_only(kBad, POLYKEM_ERR_SECRET_KEY, status_, ss_, made_.sender);
  }
}

std::vector<Case> cases(const std::vector<const char*>& sets) {
  std::vector<Case> all;
  for (const auto& backend : available_backends()) {
    for (const char* name : sets) {
      if (computes(backend, name)) all.push_back({name, backend});
    }
  }
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return test_name({info.param.set, info.param.backend});
}

INSTANTIATE_TEST_SUITE_P(All, Keys,
                         testing::ValuesIn(cases({"ntruhps2048509", "ntruhrss701", "mlkem512", "mlkem768", "mlkem1024",
                                                  "kyber512", "frodokem640aes", "efrodokem640shake", "lightsaber",
                                                  "lac128", "lac256"})),
                         case_name);
INSTANTIATE_TEST_SUITE_P(All, CheckedKeys, testing::ValuesIn(cases({"mlkem512", "mlkem768", "mlkem1024"})), case_name);

}  // namespace
}  // namespace polykem::test
