// SPDX-License-Identifier: Apache-2.0
// Tests counts and offsets around 32 bits, and counts whose records exceed all memory.
#include <sys/mman.h>

#include <algorithm>
#include <climits>

#include "support.hpp"

namespace polykem::hpke::test {
namespace {

constexpr std::size_t k4Gib = std::size_t{1} << 32, kWidth = 40;

/// Zeros in pages that the system allocates only when they are written.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Sparse() { munmap(memory_, bytes_); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

polykem_status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return POLYKEM_OK;
}

class Counts : public testing::TestWithParam<Kem> {
 protected:
  const Suite suite{GetParam(), Kdf::kHkdfSha256, Aead::kAes128Gcm};
};

/// Items 0 and 1 end and begin at 2^32 or around it.
TEST_P(Counts, MessagesAtOffsetsAround4Gib) {
  const Pairs keys = pairs(suite, 2);
  const Bytes coins(2 * suite.coin_bytes(), 3), text = messages(2, kWidth);
  How how;
  how.coins = &coins;
  how.aad = {};
  how.info = {};
  const Sealed right = seal_all(suite, keys.pk, text, 2, how);
  for (const std::size_t before : {std::size_t{0}, kTagBytes + 3, kWidth, kWidth + 1, 2 * kWidth}) {
    const std::uint64_t begin = k4Gib - before;
    const std::vector<std::uint64_t> text_at = {begin, begin + kWidth, begin + 2 * kWidth};
    const std::vector<std::uint64_t> sealed_at = {begin, begin + kWidth + kTagBytes, begin + 2 * (kWidth + kTagBytes)};
    const Sparse plain(text_at[2]), sealed(sealed_at[2]), opened(text_at[2]);
    std::copy(text.begin(), text.end(), plain.data() + begin);
    Bytes enc(2 * suite.enc_bytes());
    SealRequest sealing;
    sealing.count = 2;
    sealing.pk.data = keys.pk.data();
    sealing.coins = coins.data();
    sealing.enc = enc.data();
    sealing.plaintexts = {plain.data(), 0, text_at.data()};
    sealing.ciphertexts = {sealed.data(), sealed_at.data()};
    EXPECT_EQ(0u, seal(context(), suite, sealing));
    EXPECT_TRUE(std::equal(right.ct.begin(), right.ct.end(), sealed.data() + begin)) << before;
    OpenRequest opening;
    opening.count = 2;
    opening.sk.data = keys.sk.data();
    opening.enc = enc.data();
    opening.ciphertexts = {sealed.data(), 0, sealed_at.data()};
    opening.plaintexts = {opened.data(), text_at.data()};
    EXPECT_EQ(0u, open(context(), suite, opening));
    EXPECT_TRUE(std::equal(text.begin(), text.end(), opened.data() + begin)) << before;
  }
}

/// Uses so many items that each kind of record exceeds 4 GiB. Only the last two are computed.
TEST_P(Counts, LastItemsOfMoreThan4Gib) {
  const std::size_t least =
      std::min({suite.public_key_bytes(), suite.secret_key_bytes(), suite.enc_bytes(), suite.coin_bytes(), kWidth});
  const std::size_t count = k4Gib / least + 2;
  const Pairs keys = pairs(suite, 2);
  const Bytes some_coins(2 * suite.coin_bytes(), 3), text = messages(2, kWidth);
  How how;
  how.coins = &some_coins;
  how.aad = {};
  how.info = {};
  const Sealed right = seal_all(suite, keys.pk, text, 2, how);
  const Pieces last = [](std::size_t items, const ComputePiece& compute) { compute(items - 2, 2); };
  const auto tail = [count](const Sparse& all, std::size_t bytes) { return all.data() + (count - 2) * bytes; };
  const auto put = [&](const auto& from, const Sparse& all, std::size_t bytes) {
    std::copy(from.begin(), from.end(), tail(all, bytes));
  };
  const Sparse pk(count * suite.public_key_bytes()), sk(count * suite.secret_key_bytes()),
      coins(count * suite.coin_bytes()), enc(count * suite.enc_bytes()), plain(count * kWidth),
      sealed(count * (kWidth + kTagBytes)), opened(count * kWidth);
  put(keys.pk, pk, suite.public_key_bytes());
  put(keys.sk, sk, suite.secret_key_bytes());
  put(some_coins, coins, suite.coin_bytes());
  put(text, plain, kWidth);
  SealRequest sealing;
  sealing.count = count;
  sealing.pk.data = pk.data();
  sealing.coins = coins.data();
  sealing.enc = enc.data();
  sealing.plaintexts = {plain.data(), kWidth};
  sealing.ciphertexts.data = sealed.data();
  EXPECT_EQ(0u, seal(context(), suite, sealing, last));
  EXPECT_TRUE(std::equal(right.enc.begin(), right.enc.end(), tail(enc, suite.enc_bytes())));
  EXPECT_TRUE(std::equal(right.ct.begin(), right.ct.end(), tail(sealed, kWidth + kTagBytes)));
  OpenRequest opening;
  opening.count = count;
  opening.sk.data = sk.data();
  opening.enc = enc.data();
  opening.ciphertexts = {sealed.data(), kWidth + kTagBytes};
  opening.plaintexts.data = opened.data();
  EXPECT_EQ(0u, open(context(), suite, opening, last));
  EXPECT_TRUE(std::equal(text.begin(), text.end(), tail(opened, kWidth)));
  const Sparse pk_again(count * suite.public_key_bytes());
  EXPECT_EQ(0u, public_keys(context(), suite, count, sk.data(), pk_again.data(), nullptr, last));
  EXPECT_TRUE(std::equal(keys.pk.begin(), keys.pk.end(), tail(pk_again, suite.public_key_bytes())));
}

/// Arrays have one item, since nothing may be read or written.
TEST_P(Counts, WhoseBytesNoMemoryHoldsAreRefused) {
  const Pairs keys = pairs(suite, 1);
  const Bytes text = messages(1, kWidth);
  const Bytes untouched(suite.enc_bytes(), 0xee);
  Bytes pk(suite.public_key_bytes()), enc = untouched, sealed(kWidth + kTagBytes);
  SecretBytes sk(suite.secret_key_bytes());
  SealRequest sealing;
  sealing.pk.data = keys.pk.data();
  sealing.enc = enc.data();
  sealing.plaintexts = {text.data(), kWidth};
  sealing.ciphertexts.data = sealed.data();
  OpenRequest opening;
  opening.sk.data = keys.sk.data();
  opening.enc = enc.data();
  opening.ciphertexts = {sealed.data(), kWidth + kTagBytes};
  opening.plaintexts.data = sealed.data();
  for (const std::size_t record : {suite.public_key_bytes(), suite.secret_key_bytes(), suite.enc_bytes(), kWidth,
                                   kWidth + kTagBytes, std::size_t{1}}) {
    for (const std::size_t count : {SIZE_MAX / record, SIZE_MAX / record / 2 + 1, SIZE_MAX / record + (record > 1)}) {
      const auto refused = [&](const std::function<void()>& call) {
        EXPECT_EQ(POLYKEM_ERR_ARGUMENT, status_of(call)) << count;
      };
      sealing.count = opening.count = count;
      refused([&] { seal(context(), suite, sealing); });
      refused([&] { open(context(), suite, opening); });
      refused([&] { Sender(context(), suite, sealing); });
      refused([&] { Recipient(context(), suite, opening); });
      refused([&] { generate(context(), suite, count, pk.data(), sk.data()); });
      refused([&] { public_keys(context(), suite, count, sk.data(), pk.data()); });
      refused([&] { derive_key_pairs(context(), suite, count, sk.data(), 1, pk.data(), sk.data()); });
    }
  }
  EXPECT_EQ(untouched, enc);
}

/// Records fit into memory, but messages do not.
TEST_P(Counts, WhoseMessagesNoMemoryHoldsAreRefused) {
  const Pairs keys = pairs(suite, 2);
  Bytes enc(2 * suite.enc_bytes());
  std::uint8_t byte = 0;
  SealRequest sealing;
  sealing.count = 2;
  sealing.pk.data = keys.pk.data();
  sealing.enc = enc.data();
  sealing.ciphertexts.data = &byte;
  const auto refused = [&] { return POLYKEM_ERR_ARGUMENT == status_of([&] { seal(context(), suite, sealing); }); };
  sealing.plaintexts = {&byte, SIZE_MAX / 4 + 1};
  EXPECT_TRUE(refused()) << "two messages";
  for (const std::size_t width : {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2}) {
    for (const bool shared : {false, true}) {
      sealing.plaintexts = {&byte, width, nullptr, shared};
      EXPECT_TRUE(refused()) << width;
    }
    sealing.plaintexts = {&byte, 1};
    sealing.aad = {&byte, width};
    EXPECT_TRUE(refused()) << width;
    sealing.aad = {};
    sealing.info = {&byte, width};
    EXPECT_TRUE(refused()) << width;
    sealing.info = {};
  }
}

INSTANTIATE_TEST_SUITE_P(Kems, Counts, testing::Values(Kem::kDhkemX25519, Kem::kMlKem768X25519),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param)); });

}  // namespace
}  // namespace polykem::hpke::test
