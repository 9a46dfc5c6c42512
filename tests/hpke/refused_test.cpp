// SPDX-License-Identifier: Apache-2.0
// Tests messages that must not open and malformed items, and that their neighbours are still computed.
#include "support.hpp"

namespace polykem::hpke::test {
namespace {

constexpr std::size_t kCount = 70, kBad = 33, kWidth = 32;

struct Batch {
  explicit Batch(const Suite& suite)
      : keys(pairs(suite, kCount)),
        plaintexts(messages(kCount, kWidth)),
        sealed(seal_all(suite, keys.pk, plaintexts, kCount)) {}
  Pairs keys;
  Bytes plaintexts;
  Sealed sealed;
};

/// Checks that item kBad fails with `status` and zeros, and that every other one is opened.
void expect_one_refused(const Opened& opened, const Bytes& plaintexts, ItemStatus status) {
  EXPECT_EQ(1u, opened.failed);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i == kBad) continue;
    EXPECT_EQ(ItemStatus::kOk, opened.status[i]) << i;
    EXPECT_TRUE(std::equal(plaintexts.begin() + i * kWidth, plaintexts.begin() + (i + 1) * kWidth,
                           opened.plaintexts.begin() + i * kWidth))
        << i;
  }
  EXPECT_EQ(status, opened.status[kBad]);
  EXPECT_TRUE(all_zero(opened.plaintexts, kBad * kWidth, kWidth));
}

void expect_one_unsealed(const Suite& suite, const Sealed& sealed) {
  EXPECT_EQ(1u, sealed.failed);
  for (std::size_t i = 0; i < kCount; ++i)
    EXPECT_EQ(i == kBad ? ItemStatus::kPublicKey : ItemStatus::kOk, sealed.status[i]) << i;
  EXPECT_TRUE(all_zero(sealed.enc, kBad * suite.enc_bytes(), suite.enc_bytes()));
  EXPECT_TRUE(all_zero(sealed.ct, kBad * (kWidth + 16), kWidth + 16));
  EXPECT_FALSE(all_zero(sealed.enc, (kBad + 1) * suite.enc_bytes(), suite.enc_bytes()));
}

class Refused : public testing::TestWithParam<Kem> {
 protected:
  const Suite suite{GetParam(), Kdf::kHkdfSha256, Aead::kAes128Gcm};
};

class RefusedLattices : public Refused {
 protected:
  const Scheme lattice = Scheme::find(suite.kem().id == Kem::kMlKem1024P384 ? "mlkem1024" : "mlkem768");
  const std::size_t lattice_pk = lattice.public_key_bytes(), lattice_ct = lattice.ciphertext_bytes();
};

TEST_P(Refused, ChangedCiphertextsAndTags) {
  const Batch batch(suite);
  for (const std::size_t at : {0u, 31u, 32u, 47u}) {
    Sealed changed = batch.sealed;
    changed.ct[kBad * (kWidth + 16) + at] ^= 0x10;
    expect_one_refused(open_all(suite, batch.keys.sk, changed), batch.plaintexts, ItemStatus::kOpen);
  }
}

TEST_P(Refused, ChangedEncapsulationsAndKeys) {
  const Batch batch(suite);
  Sealed changed = batch.sealed;
  changed.enc[kBad * suite.enc_bytes() + 5] ^= 1;
  expect_one_refused(open_all(suite, batch.keys.sk, changed), batch.plaintexts, ItemStatus::kOpen);
  SecretBytes sk = batch.keys.sk;
  sk[kBad * suite.secret_key_bytes() + 5] ^= 1;
  expect_one_refused(open_all(suite, sk, batch.sealed), batch.plaintexts, ItemStatus::kOpen);
}

TEST_P(Refused, AnotherInfoOrAdditionalData) {
  const Batch batch(suite);
  for (const How& how : {How{bytes_of("infO")}, How{bytes_of("info"), bytes_of("additional")}, How{{}, {}}}) {
    const Opened opened = open_all(suite, batch.keys.sk, batch.sealed, how);
    EXPECT_EQ(kCount, opened.failed);
    EXPECT_TRUE(all_zero(opened.plaintexts, 0, opened.plaintexts.size()));
  }
}

TEST_P(Refused, AnotherSuite) {
  const Batch batch(suite);
  const Suite other(GetParam(), Kdf::kHkdfSha512, Aead::kAes128Gcm);
  EXPECT_EQ(kCount, open_all(other, batch.keys.sk, batch.sealed).failed);
}

TEST_P(RefusedLattices, KeysThatAreNotReduced) {
  Pairs keys = pairs(suite, kCount);
  keys.pk[kBad * suite.public_key_bytes() + 0] = 0xff;
  keys.pk[kBad * suite.public_key_bytes() + 1] |= 0x0f;
  expect_one_unsealed(suite, seal_all(suite, keys.pk, messages(kCount, kWidth), kCount));
  How how;
  how.shared = true;
  const Bytes bad(keys.pk.begin() + kBad * suite.public_key_bytes(), keys.pk.end());
  EXPECT_EQ(3u, seal_all(suite, bad, messages(3, kWidth), 3, how).failed);
}

class RefusedPoints : public RefusedLattices {};

TEST_P(RefusedPoints, OfEncapsulationsAndKeys) {
  const Batch batch(suite);
  const std::size_t point_bytes = suite.enc_bytes() - lattice_ct;
  std::vector<Bytes> points;
  if (suite.kem().id == Kem::kMlKem768X25519) {
    points = {Bytes(32, 0), Bytes(32, 0)};  // of order 4 and 1: every scalar leads to zero
    points[1][0] = 1;
  } else {
    const std::uint8_t* right = batch.sealed.enc.data() + kBad * suite.enc_bytes() + lattice_ct;
    points.assign(4, Bytes(right, right + point_bytes));
    points[0].back() ^= 1;                                                        // beside the curve
    points[1][0] = static_cast<std::uint8_t>(6 | (points[1].back() & 1));         // the hybrid form
    std::fill(points[2].begin() + 1, points[2].begin() + point_bytes / 2, 0xff);  // x is no field element
    points[3].assign(point_bytes, 0);                                             // infinity, and padding
  }
  for (const Bytes& point : points) {
    Sealed changed = batch.sealed;
    std::copy(point.begin(), point.end(), changed.enc.begin() + kBad * suite.enc_bytes() + lattice_ct);
    expect_one_refused(open_all(suite, batch.keys.sk, changed), batch.plaintexts, ItemStatus::kEncapsulation);
    Bytes pk = batch.keys.pk;
    std::copy(point.begin(), point.end(), pk.begin() + kBad * suite.public_key_bytes() + lattice_pk);
    expect_one_unsealed(suite, seal_all(suite, pk, batch.plaintexts, kCount));
  }
}

/// All encodings of points of small order, with which every scalar leads to zero, with and without the highest bit,
/// which X25519 does not read [RFC7748, 5].
std::vector<Bytes> small_order_points() {
  constexpr std::size_t kBytes = 32;
  const std::vector<Bytes> of_order_8 = {
      {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
       0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
      {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
       0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57}};
  std::vector<Bytes> all = of_order_8;
  for (const std::uint8_t low : {0, 1}) {
    all.emplace_back(kBytes, 0);
    all.back()[0] = low;
  }
  for (const std::uint8_t low : {0xec, 0xed, 0xee}) {  // the prime less 1, the prime, the prime and 1
    all.emplace_back(kBytes, 0xff);
    all.back()[0] = low;
    all.back()[kBytes - 1] = 0x7f;
  }
  for (std::size_t i = all.size(); i-- > 0;) {
    all.push_back(all[i]);
    all.back()[kBytes - 1] |= 0x80;
  }
  return all;
}

TEST(RefusedDhkem, PointsOfSmallOrder) {
  const Suite suite(Kem::kDhkemX25519, Kdf::kHkdfSha256, Aead::kAes128Gcm);
  const Batch batch(suite);
  const std::vector<Bytes> points = small_order_points();
  EXPECT_EQ(14u, points.size());
  for (const Bytes& point : points) {
    Sealed changed = batch.sealed;
    std::copy(point.begin(), point.end(), changed.enc.begin() + kBad * suite.enc_bytes());
    expect_one_refused(open_all(suite, batch.keys.sk, changed), batch.plaintexts, ItemStatus::kEncapsulation);
    Bytes pk = batch.keys.pk;
    std::copy(point.begin(), point.end(), pk.begin() + kBad * suite.public_key_bytes());
    expect_one_unsealed(suite, seal_all(suite, pk, batch.plaintexts, kCount));
    How how;
    how.shared = true;
    EXPECT_EQ(std::vector<ItemStatus>(3, ItemStatus::kPublicKey),
              seal_all(suite, point, messages(3, kWidth), 3, how).status);
  }
}

std::string kem_name(const testing::TestParamInfo<Kem>& info) {
  return std::to_string(static_cast<int>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Hybrids, RefusedPoints,
                         testing::Values(Kem::kMlKem768P256, Kem::kMlKem1024P384, Kem::kMlKem768X25519), kem_name);
INSTANTIATE_TEST_SUITE_P(Lattices, RefusedLattices,
                         testing::Values(Kem::kMlKem768, Kem::kMlKem768P256, Kem::kMlKem1024P384, Kem::kMlKem768X25519),
                         kem_name);
INSTANTIATE_TEST_SUITE_P(Kems, Refused,
                         testing::Values(Kem::kDhkemX25519, Kem::kMlKem768, Kem::kMlKem768P256, Kem::kMlKem1024P384,
                                         Kem::kMlKem768X25519),
                         kem_name);

const Suite& usual() {
  static const Suite suite(Kem::kMlKem768, Kdf::kHkdfSha256, Aead::kAes128Gcm);
  return suite;
}

TEST(Messages, ShorterThanATag) {
  const Pairs keys = pairs(usual(), 3);
  const Bytes enc(3 * usual().enc_bytes()), ct(40);
  const std::vector<std::uint64_t> begins = {0, 15, 15, 40}, out_begins = {0, 0, 0, 9};
  Bytes out(9, 0xee);
  std::vector<ItemStatus> status(3);
  OpenRequest request;
  request.count = 3;
  request.sk = {keys.sk.data()};
  request.enc = enc.data();
  request.ciphertexts = {ct.data(), 0, begins.data()};
  request.plaintexts = {out.data(), out_begins.data()};
  request.status = status.data();
  EXPECT_EQ(3u, open(context(), usual(), request));
  EXPECT_EQ(std::vector<ItemStatus>(3, ItemStatus::kOpen), status);
  EXPECT_EQ(Bytes(9, 0), out);
}

TEST(Arguments, AreChecked) {
  EXPECT_THROW(Suite(static_cast<Kem>(0x10), Kdf::kHkdfSha256, Aead::kAes128Gcm), Error);
  EXPECT_THROW(Suite(Kem::kMlKem768, static_cast<Kdf>(0x12), Aead::kAes128Gcm), Error);
  EXPECT_THROW(Suite(Kem::kMlKem768, Kdf::kHkdfSha256, static_cast<Aead>(4)), Error);

  SealRequest request;
  EXPECT_EQ(0u, seal(context(), usual(), request));
  request.count = 1;
  EXPECT_THROW(seal(context(), usual(), request), Error);
  const Pairs keys = pairs(usual(), 1);
  const Bytes plaintext(10);
  Bytes enc(usual().enc_bytes()), ct(26);
  const std::vector<std::uint64_t> begins = {0, 10}, wrong = {0, 25}, down = {5, 0}, right = {0, 26};
  request.pk = {keys.pk.data()};
  request.enc = enc.data();
  request.ciphertexts = {ct.data(), wrong.data()};
  request.plaintexts = {plaintext.data(), 0, begins.data()};
  EXPECT_THROW(seal(context(), usual(), request), Error);
  request.plaintexts.offsets = down.data();
  EXPECT_THROW(seal(context(), usual(), request), Error);
  request.plaintexts.offsets = nullptr;
  EXPECT_THROW(seal(context(), usual(), request), Error);
  request.plaintexts.offsets = begins.data();
  request.ciphertexts.offsets = right.data();
  EXPECT_EQ(0u, seal(context(), usual(), request));
}

TEST(Arguments, InfoOfOneStageIsShorterThan64Kib) {
  const Suite suite(Kem::kMlKem768, Kdf::kShake128, Aead::kAes128Gcm);
  const Pairs keys = pairs(suite, 1);
  How how;
  how.info.assign(65535, 7);
  const Sealed sealed = seal_all(suite, keys.pk, Bytes(5), 1, how);
  EXPECT_EQ(0u, open_all(suite, keys.sk, sealed, how).failed);
  how.info.push_back(7);
  EXPECT_THROW(seal_all(suite, keys.pk, Bytes(5), 1, how), Error);
  EXPECT_EQ(0u, seal_all(usual(), keys.pk, Bytes(5), 1, how).failed);
}

}  // namespace
}  // namespace polykem::hpke::test
