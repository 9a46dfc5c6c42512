// SPDX-License-Identifier: Apache-2.0
// Tests round trips of every suite: forms of messages, counts that do and do not fill a batch, threads.
#include "support.hpp"

namespace polykem::hpke::test {
namespace {

std::vector<Suite> every_suite() {
  std::vector<Suite> all;
  for (const KemInfo& kem : kems()) {
    for (const KdfInfo& kdf : kdfs()) {
      for (const AeadInfo& aead : ciphers())
        all.emplace_back(kem.id, kdf.id, aead.id);
    }
  }
  return all;
}

const Suite& usual() {
  static const Suite suite(Kem::kMlKem768, Kdf::kHkdfSha256, Aead::kAes128Gcm);
  return suite;
}

TEST(Suites, OpenWhatTheySealed) {
  EXPECT_EQ(105u, every_suite().size());
  for (const Suite& suite : every_suite()) {
    SCOPED_TRACE(std::string(suite.kem().name) + ", " + std::string(suite.kdf().name) + ", " +
                 std::string(suite.aead().name));
    const Pairs keys = pairs(suite, 3);
    const Bytes plaintexts = messages(3, 50);
    const Sealed sealed = seal_all(suite, keys.pk, plaintexts, 3);
    EXPECT_EQ(0u, sealed.failed);
    const Opened opened = open_all(suite, keys.sk, sealed);
    EXPECT_EQ(0u, opened.failed);
    EXPECT_EQ(plaintexts, opened.plaintexts);
  }
}

TEST(Suites, SizesAreThoseOfTheRegistry) {
  struct Row {
    Kem kem;
    std::size_t enc, pk, sk;
  };
  for (const Row& row :
       {Row{Kem::kDhkemX25519, 32, 32, 32}, Row{Kem::kMlKem512, 768, 800, 64}, Row{Kem::kMlKem768, 1088, 1184, 64},
        Row{Kem::kMlKem1024, 1568, 1568, 64}, Row{Kem::kMlKem768P256, 1153, 1249, 32},
        Row{Kem::kMlKem1024P384, 1665, 1665, 32}, Row{Kem::kMlKem768X25519, 1120, 1216, 32}}) {
    const Suite suite(row.kem, Kdf::kShake128, Aead::kAes256Gcm);
    EXPECT_EQ(row.enc, suite.enc_bytes()) << suite.kem().name;
    EXPECT_EQ(row.pk, suite.public_key_bytes()) << suite.kem().name;
    EXPECT_EQ(row.sk, suite.secret_key_bytes()) << suite.kem().name;
  }
}

TEST(Suites, SharedKeysAndSingleItems) {
  for (const KemInfo& kem : kems()) {
    SCOPED_TRACE(kem.name);
    const Suite suite(kem.id, Kdf::kHkdfSha384, Aead::kChaCha20Poly1305);
    const Pairs keys = pairs(suite, 1);
    How how;
    how.shared = true;
    for (const std::size_t count : {1u, 2u, 65u}) {
      const Bytes plaintexts = messages(count, 9);
      const Sealed sealed = seal_all(suite, keys.pk, plaintexts, count, how);
      EXPECT_EQ(0u, sealed.failed);
      EXPECT_EQ(plaintexts, open_all(suite, keys.sk, sealed, how).plaintexts);
    }
  }
}

TEST(Suites, EveryItemHasAnEncapsulationOfItsOwn) {
  const Suite suite(Kem::kMlKem768X25519, Kdf::kHkdfSha256, Aead::kAes128Gcm);
  const Pairs keys = pairs(suite, 2);
  EXPECT_NE(Bytes(keys.pk.begin(), keys.pk.begin() + suite.public_key_bytes()),
            Bytes(keys.pk.begin() + suite.public_key_bytes(), keys.pk.end()));
  How how;
  how.shared = true;
  const Sealed sealed = seal_all(suite, keys.pk, Bytes(20), 2, how);
  const auto half = [](const Bytes& all, std::size_t from, std::size_t bytes) {
    return Bytes(all.begin() + from, all.begin() + from + bytes);
  };
  const std::size_t enc = suite.enc_bytes(), lattice = Scheme::find("mlkem768").ciphertext_bytes();
  EXPECT_NE(half(sealed.enc, 0, lattice), half(sealed.enc, enc, lattice));
  EXPECT_NE(half(sealed.enc, lattice, 32), half(sealed.enc, enc + lattice, 32));
  EXPECT_NE(half(sealed.ct, 0, 26), half(sealed.ct, 26, 26));
}

/// The same coins yield the same bytes, whatever the batch and the threads.
TEST(Suites, BatchesAndThreadsDoNotMatter) {
  for (const Kem kem : {Kem::kDhkemX25519, Kem::kMlKem768, Kem::kMlKem768X25519}) {
    const Suite suite(kem, Kdf::kHkdfSha256, Aead::kAes256Gcm);
    const std::size_t count = 300;
    const Pairs keys = pairs(suite, count);
    const Bytes plaintexts = messages(count, 32), coins = messages(count, suite.coin_bytes());
    How how;
    how.coins = &coins;
    how.threads = 1;
    const Sealed one = seal_all(suite, keys.pk, plaintexts, count, how);
    how.threads = 3;
    const Sealed three = seal_all(suite, keys.pk, plaintexts, count, how);
    EXPECT_EQ(one.enc, three.enc);
    EXPECT_EQ(one.ct, three.ct);
    for (const std::size_t i : {0u, 1u, 64u, 299u}) {
      const auto record = [i](const Bytes& all, std::size_t bytes) {
        return Bytes(all.begin() + i * bytes, all.begin() + (i + 1) * bytes);
      };
      const Bytes own = record(coins, suite.coin_bytes());
      how.coins = &own;
      const Sealed single = seal_all(suite, record(keys.pk, suite.public_key_bytes()), record(plaintexts, 32), 1, how);
      EXPECT_EQ(record(one.enc, suite.enc_bytes()), single.enc) << i;
      EXPECT_EQ(record(one.ct, 48), single.ct) << i;
    }
  }
}

/// More items than are computed at a time.
TEST(Suites, LargeBatches) {
  const std::size_t count = 8192 + 70;
  const Pairs keys = pairs(usual(), count);
  const Bytes plaintexts = messages(count, 32);
  const Sealed sealed = seal_all(usual(), keys.pk, plaintexts, count);
  EXPECT_EQ(0u, sealed.failed);
  const Opened opened = open_all(usual(), keys.sk, sealed);
  EXPECT_EQ(0u, opened.failed);
  EXPECT_EQ(plaintexts, opened.plaintexts);
}

TEST(Messages, OneForAll) {
  const Pairs keys = pairs(usual(), 4);
  const Bytes plaintext = bytes_of("to all of you");
  Sealed sealed{4, plaintext.size(), Bytes(4 * usual().enc_bytes()), Bytes(4 * (plaintext.size() + 16)), {}, 0};
  SealRequest request;
  request.count = 4;
  request.pk = {keys.pk.data()};
  const How how;
  request.info = for_all(how.info);
  request.aad = for_all(how.aad);
  request.plaintexts = {plaintext.data(), plaintext.size(), nullptr, true};
  request.enc = sealed.enc.data();
  request.ciphertexts = {sealed.ct.data()};
  EXPECT_EQ(0u, seal(context(), usual(), request));
  const Bytes opened = open_all(usual(), keys.sk, sealed).plaintexts;
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(plaintext, Bytes(opened.begin() + i * 13, opened.begin() + (i + 1) * 13));
}

/// Lengths with and without whole blocks, none among them.
TEST(Messages, OfDifferentLengths) {
  for (const AeadInfo& aead : ciphers()) {
    const Suite suite(Kem::kMlKem512, Kdf::kHkdfSha512, aead.id);
    const std::vector<std::uint64_t> begins = {0, 0, 1, 17, 17, 81, 70081, 70113};
    const std::size_t count = begins.size() - 1;
    const Pairs keys = pairs(suite, count);
    const Bytes plaintexts = messages(1, begins.back());
    std::vector<std::uint64_t> sealed_begins = begins;
    for (std::size_t i = 0; i <= count; ++i)
      sealed_begins[i] += i * kTagBytes;
    Bytes enc(count * suite.enc_bytes()), ct(sealed_begins.back()), back(plaintexts.size());
    SealRequest request;
    request.count = count;
    request.pk = {keys.pk.data()};
    request.plaintexts = {plaintexts.data(), 0, begins.data()};
    request.enc = enc.data();
    request.ciphertexts = {ct.data(), sealed_begins.data()};
    EXPECT_EQ(0u, seal(context(), suite, request));
    OpenRequest opening;
    opening.count = count;
    opening.sk = {keys.sk.data()};
    opening.enc = enc.data();
    opening.ciphertexts = {ct.data(), 0, sealed_begins.data()};
    opening.plaintexts = {back.data(), begins.data()};
    EXPECT_EQ(0u, open(context(), suite, opening));
    EXPECT_EQ(plaintexts, back) << aead.name;
  }
}

TEST(Keys, PublicKeysFollowFromSecretKeys) {
  for (const KemInfo& kem : kems()) {
    const Suite suite(kem.id, Kdf::kShake256, Aead::kAes128Gcm);
    const Pairs keys = pairs(suite, 5);
    Bytes again(keys.pk.size());
    EXPECT_EQ(0u, public_keys(context(), suite, 5, keys.sk.data(), again.data()));
    EXPECT_EQ(keys.pk, again) << kem.name;
  }
}

}  // namespace
}  // namespace polykem::hpke::test
