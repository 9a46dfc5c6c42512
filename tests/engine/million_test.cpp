// SPDX-License-Identifier: Apache-2.0
// Tests that a batch of a million items, or of ten thousand of the largest set, needs at most 64 MB beyond its inputs
// and outputs, and that items of a hybrid more than 4 GiB behind the first are computed correctly.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "support/batch.hpp"
#include "support/memory.hpp"

namespace polykem::test {
namespace {

TEST(Million, EncapsulationsToOneKeyStayWithin64Megabytes) {
  const size_t count = 1000000;
  const Context context = make_context(nullptr, 2);
  const auto* set = scheme("ntruhps2048509");
  const auto sizes = info(set);
  const Exchange one(context.get(), set, 1);
  Bytes ct(count * sizes.ciphertext_bytes, 1), sent(count * 32, 1);
  const MemoryRise rise;
  if (!rise.measures()) GTEST_SKIP() << MemoryRise::kWhyNot;
  ASSERT_EQ(
      polykem_encaps(context.get(), set, count, POLYKEM_KEY_SHARED, one.pk.data(), ct.data(), sent.data(), nullptr),
      POLYKEM_OK);
  EXPECT_LE(rise.kilobytes(), 64u * 1024) << "kB";

  const size_t sample = 1000, from = count - sample;  // the end of the batch, which the last chunks computed
  Bytes received(sample * 32);
  ASSERT_EQ(polykem_decaps(context.get(), set, sample, POLYKEM_KEY_SHARED, one.sk.data(),
                           &ct[from * sizes.ciphertext_bytes], received.data(), nullptr),
            POLYKEM_OK);
  EXPECT_EQ(0, std::memcmp(received.data(), &sent[from * 32], received.size()));
}

/// The memory that every operation of the largest set needs, with a key per item. The matrix of one key alone would be
/// 3.6 MB.
class Large : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (std::strcmp(polykem_context_backend(context_.get(), set_), "ref") == 0) GTEST_SKIP() << "takes minutes on ref";
    if (!MemoryRise().measures()) GTEST_SKIP() << MemoryRise::kWhyNot;
  }

  size_t kilobytes_for(size_t count) {
    const auto sizes = info(set_);
    Bytes pk(count * sizes.public_key_bytes, 1), sk(count * sizes.secret_key_bytes, 1);
    Bytes ct(count * sizes.ciphertext_bytes, 1);
    Bytes sent(count * sizes.shared_secret_bytes, 1), received(sent.size(), 1);
    const MemoryRise rise;
    EXPECT_EQ(polykem_keygen(context_.get(), set_, count, pk.data(), sk.data()), POLYKEM_OK);
    EXPECT_EQ(
        polykem_encaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), sent.data(), nullptr),
        POLYKEM_OK);
    EXPECT_EQ(polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), received.data(),
                             nullptr),
              POLYKEM_OK);
    const size_t kilobytes = rise.kilobytes();
    EXPECT_TRUE(received == sent);
    return kilobytes;
  }

  const Context context_ = make_context(nullptr, 2);
  const polykem_scheme* const set_ = scheme("frodokem1344aes");
};

TEST_P(Large, BatchesStayWithin64MegabytesAndTakeNoMoreThanSmallOnes) {
  const size_t small = kilobytes_for(300), large = kilobytes_for(GetParam());
  EXPECT_LE(large, 64u * 1024) << "kB";
  EXPECT_LE(large, small + 4u * 1024) << "kB";
}

/// Records that repeat after kPeriod. The system keeps each only once, in memory that is mapped repeatedly.
class Repeated {
 public:
  static constexpr size_t kPeriod = 4096;  // a multiple of a page for records of any size

  Repeated(size_t count, size_t record, const Bytes& first = {})
      : period_(kPeriod * record), bytes_((count + kPeriod - 1) / kPeriod * period_) {
    const int file = memfd_create("records", 0);
    void* const place = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (file < 0 || place == MAP_FAILED || ftruncate(file, static_cast<off_t>(period_)) != 0) throw std::bad_alloc();
    data_ = static_cast<uint8_t*>(place);
    for (size_t at = 0; at < bytes_; at += period_)
      if (mmap(data_ + at, period_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        throw std::bad_alloc();
    close(file);
    std::copy(first.begin(), first.end(), data_);
  }
  ~Repeated() { munmap(data_, bytes_); }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  uint8_t* data() const { return data_; }
  bool operator==(const Bytes& right) const { return std::memcmp(data_, right.data(), period_) == 0; }

 private:
  size_t period_, bytes_;
  uint8_t* data_ = nullptr;
};

/// An offset of 32 bits would lead to records that begin elsewhere, for a whole period of items.
class Beyond4Gib : public testing::TestWithParam<const char*> {
 protected:
  static constexpr size_t kPeriod = Repeated::kPeriod;

  void SetUp() override {
    if (std::strcmp(polykem_context_backend(context_.get(), set_), "ref") == 0) GTEST_SKIP() << "takes minutes on ref";
  }

  static size_t beyond(size_t record) { return (size_t{1} << 32) / record + kPeriod + 1; }

  const Context context_ = make_context(nullptr, 2);
  const polykem_scheme* const set_ = scheme(GetParam());
  const polykem_scheme_info_t sizes_ = info(set_);
  const Exchange few_{context_.get(), set_, kPeriod, 1};
};

TEST_P(Beyond4Gib, Keys) {
  const size_t count = beyond(sizes_.secret_key_bytes);
  const Repeated coins(count, sizes_.keygen_coin_bytes, pattern(kPeriod * sizes_.keygen_coin_bytes, 1));
  const Repeated pk(count, sizes_.public_key_bytes), sk(count, sizes_.secret_key_bytes);
  auto request = make_request(POLYKEM_KEYGEN, set_, count);
  request.coins = coins.data();
  request.pk_out = pk.data();
  request.sk_out = sk.data();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_TRUE(pk == few_.pk);
  EXPECT_TRUE(sk == few_.sk);
}

TEST_P(Beyond4Gib, Encapsulations) {
  const size_t count = beyond(sizes_.ciphertext_bytes);
  const Repeated coins(count, sizes_.encaps_coin_bytes, pattern(kPeriod * sizes_.encaps_coin_bytes, 2));
  const Repeated pk(count, sizes_.public_key_bytes, few_.pk), ct(count, sizes_.ciphertext_bytes);
  const Repeated ss(count, sizes_.shared_secret_bytes);
  auto request = make_request(POLYKEM_ENCAPS, set_, count);
  request.coins = coins.data();
  request.pk = pk.data();
  request.ct_out = ct.data();
  request.ss_out = ss.data();
  ASSERT_EQ(polykem_run(context_.get(), &request), POLYKEM_OK);
  EXPECT_TRUE(ct == few_.ct);
  EXPECT_TRUE(ss == few_.sender);
}

TEST_P(Beyond4Gib, Decapsulations) {
  const size_t count = beyond(sizes_.secret_key_bytes);
  const Repeated sk(count, sizes_.secret_key_bytes, few_.sk), ct(count, sizes_.ciphertext_bytes, few_.ct);
  const Repeated ss(count, sizes_.shared_secret_bytes);
  ASSERT_EQ(polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), ss.data(), nullptr),
            POLYKEM_OK);
  EXPECT_TRUE(ss == few_.sender);
}

INSTANTIATE_TEST_SUITE_P(Full, Beyond4Gib, testing::Values("x25519mlkem768"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Of, Large, testing::Values(1000), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Full, Large, testing::Values(10000), testing::PrintToStringParamName());

}  // namespace
}  // namespace polykem::test
