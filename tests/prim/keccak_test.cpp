// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#ifdef __x86_64__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "prim/keccak/keccak.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::Noise;

class KeccakLanesTest : public test::IsaTest {
 protected:
  const KeccakFunctions& keccak() const { return POLYKEM_SHA3_TABLE(kKeccak); }
};

std::vector<uint8_t> shake(Shake::Strength strength, const uint8_t* in, size_t length, size_t out_length) {
  Shake stream(strength);
  stream.absorb({in, length});
  std::vector<uint8_t> out(out_length);
  stream.squeeze(out);
  return out;
}

void expect_permutation(void (*permute)(uint64_t*), size_t lanes) {
  Noise noise(1);
  alignas(64) uint64_t states[25 * 8];
  uint64_t expected[8][25];
  for (size_t word = 0; word < 25; ++word) {
    for (size_t lane = 0; lane < lanes; ++lane)
      states[word * lanes + lane] = expected[lane][word] = noise.next();
  }
  permute(states);
  for (size_t lane = 0; lane < lanes; ++lane) {
    keccak_f1600(expected[lane]);
    for (size_t word = 0; word < 25; ++word)
      ASSERT_EQ(states[word * lanes + lane], expected[lane][word]);
  }
}

TEST_P(KeccakLanesTest, PermutationAgreesWithReference) {
  expect_permutation(keccak().permute, keccak().lanes);
}

#ifdef __x86_64__
TEST(KeccakForms, PermutationsAgreeWithReference) {
  if (!test::cpu_has(test::Isa::kAvx512)) GTEST_SKIP() << "this CPU has no avx512";
  const KeccakForms& forms = kKeccakFormsAvx512;
  for (const auto& form : {forms.compiled, forms.intel, forms.zen5})
    expect_permutation(form.permute, kKeccakAvx512.lanes);
  expect_permutation(kKeccakFormsAvx512.planes, 1);
  expect_permutation(kKeccakFormsAvx512.words, 1);
}
#endif

TEST_P(KeccakLanesTest, HashesAgreeWithReferenceAtEveryLengthAndCount) {
  Noise noise(2);
  for (size_t length = 0; length < 420; length += 1 + length / 40) {
    for (size_t count : {1, 3, 8, 9}) {
      const size_t in_stride = length + 5, out_length = length + 1, out_stride = out_length + 3;
      const auto in = noise.bytes(in_stride * count);
      std::vector<uint8_t> hashes(count * 32), long_hashes(count * 64), out128(count * out_stride),
          out256(count * out_stride);
      keccak().sha3_256({hashes.data(), 32}, {in.data(), in_stride}, length, count);
      keccak().sha3_512({long_hashes.data(), 64}, {in.data(), in_stride}, length, count);
      keccak().shake128({out128.data(), out_stride}, out_length, {in.data(), in_stride}, length, count);
      keccak().shake256({out256.data(), out_stride}, out_length, {in.data(), in_stride}, length, count);
      for (size_t i = 0; i < count; ++i) {
        const uint8_t* message = in.data() + i * in_stride;
        uint8_t digest[32];
        sha3_256(digest, {message, length});
        ASSERT_EQ(std::memcmp(digest, &hashes[i * 32], 32), 0) << length << " " << count << " " << i;
        uint8_t long_digest[64];
        sha3_512(long_digest, {message, length});
        ASSERT_EQ(std::memcmp(long_digest, &long_hashes[i * 64], 64), 0) << length << " " << count << " " << i;
        const auto want128 = shake(Shake::Strength::kShake128, message, length, out_length);
        const auto want256 = shake(Shake::Strength::kShake256, message, length, out_length);
        ASSERT_EQ(std::memcmp(want128.data(), &out128[i * out_stride], out_length), 0) << length << " " << i;
        ASSERT_EQ(std::memcmp(want256.data(), &out256[i * out_stride], out_length), 0) << length << " " << i;
        for (size_t gap = out_length; gap < out_stride; ++gap)
          ASSERT_EQ(out128[i * out_stride + gap], 0);
      }
    }
  }
}

/// Messages whose first blocks and ends are in different places.
struct Joined {
  size_t whole, length, count;
  std::vector<uint8_t> message, first, rest;

  Joined(size_t whole_blocks, size_t of_rest, size_t items, Noise& noise)
      : whole(whole_blocks),
        length(of_rest),
        count(items),
        message(noise.bytes(items * bytes())),
        first(items * (whole + 3)),
        rest(items * (length + 5)) {
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* from = message.data() + i * bytes();
      std::copy_n(from, whole, first.data() + i * (whole + 3));
      std::copy_n(from + whole, length, rest.data() + i * (length + 5));
    }
  }
  size_t bytes() const { return whole + length; }

  void check(Shake::Strength strength, decltype(KeccakFunctions::shake128_joined) hash, size_t out_length) const {
    std::vector<uint8_t> out(count * out_length);
    hash({out.data(), out_length}, out_length, {first.data(), whole + 3}, whole, {rest.data(), length + 5}, length,
         count);
    for (size_t i = 0; i < count; ++i) {
      const auto want = shake(strength, message.data() + i * bytes(), bytes(), out_length);
      ASSERT_EQ(std::memcmp(want.data(), &out[i * out_length], out_length), 0)
          << whole << " and " << length << " bytes to " << out_length << ", item " << i << " of " << count;
    }
  }
};

void expect_hashes_of_joined_messages(Shake::Strength strength, decltype(KeccakFunctions::shake128_joined) hash,
                                      std::initializer_list<size_t> counts) {
  Noise noise(3);
  const size_t rate = static_cast<size_t>(strength);
  for (const size_t blocks : {0, 1, 2, 5}) {
    for (const size_t length : {size_t{0}, size_t{7}, rate - 1, rate, rate + 1, 2 * rate + 40, 6 * rate}) {
      for (const size_t count : counts) {
        const Joined messages(blocks * rate, length, count, noise);
        for (const size_t out_length : {size_t{16}, size_t{32}, rate, rate + 40, 2 * rate, 5 * rate - 1, 6 * rate + 1})
          messages.check(strength, hash, out_length);
      }
    }
  }
}

TEST_P(KeccakLanesTest, HashesOfJoinedMessagesAgreeWithReference) {
  expect_hashes_of_joined_messages(Shake::Strength::kShake128, keccak().shake128_joined, {1, 2, 8, 11});
  expect_hashes_of_joined_messages(Shake::Strength::kShake256, keccak().shake256_joined, {1, 2, 8, 11});
}

#ifdef __x86_64__
TEST(KeccakForms, HashesAgreeWithReference) {
  if (!test::cpu_has(test::Isa::kAvx512)) GTEST_SKIP() << "this CPU has no avx512";
  const KeccakForms& forms = kKeccakFormsAvx512;
  for (const auto& form : {forms.compiled, forms.intel, forms.zen5}) {
    expect_hashes_of_joined_messages(Shake::Strength::kShake128, form.shake128, {2, 7, 8});
    expect_hashes_of_joined_messages(Shake::Strength::kShake256, form.shake256, {2, 7, 8});
  }
}

/// Memory between pages that can be neither read nor written.
class Fenced {
 public:
  explicit Fenced(size_t bytes) : pages_((bytes + kPage - 1) / kPage), bytes_(bytes) {
    memory_ = static_cast<uint8_t*>(mmap(nullptr, (pages_ + 2) * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(memory_, MAP_FAILED);
    EXPECT_EQ(mprotect(memory_ + kPage, pages_ * kPage, PROT_READ | PROT_WRITE), 0);
  }
  ~Fenced() { munmap(memory_, (pages_ + 2) * kPage); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  uint8_t* first() const { return memory_ + kPage; }
  uint8_t* last() const { return memory_ + (pages_ + 1) * kPage - bytes_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t pages_, bytes_;
  uint8_t* memory_;
};

/// Assembly moves the blocks, which address sanitizers do not see.
TEST(KeccakForms, OverlappedBlocksStayWithinTheirRows) {
  if (!test::cpu_has(test::Isa::kAvx512)) GTEST_SKIP() << "this CPU has no avx512";
  Noise noise(4);
  for (const size_t in_length : {272, 273, 504, 1000, 1088}) {
    for (const size_t out_length : {137, 200, 272, 337, 1000}) {
      const Fenced in(8 * in_length), out(8 * out_length);
      const auto message = noise.bytes(8 * in_length);
      for (const bool at_end : {false, true}) {
        uint8_t* const from = at_end ? in.last() : in.first();
        uint8_t* const to = at_end ? out.last() : out.first();
        std::copy(message.begin(), message.end(), from);
        for (const auto& [hash, strength] : {std::pair{kKeccakFormsAvx512.intel.shake128, Shake::Strength::kShake128},
                                             std::pair{kKeccakFormsAvx512.intel.shake256, Shake::Strength::kShake256},
                                             std::pair{kKeccakFormsAvx512.zen5.shake128, Shake::Strength::kShake128},
                                             std::pair{kKeccakFormsAvx512.zen5.shake256, Shake::Strength::kShake256}}) {
          hash({to, out_length}, out_length, {from, in_length}, 0, {from, in_length}, in_length, 8);
          for (size_t i = 0; i < 8; ++i) {
            const auto want = shake(strength, from + i * in_length, in_length, out_length);
            ASSERT_EQ(std::memcmp(want.data(), to + i * out_length, out_length), 0) << in_length << " " << out_length;
          }
        }
      }
    }
  }
}
#endif

POLYKEM_EVERY_SHA3_ISA(KeccakLanesTest);

}  // namespace
}  // namespace polykem
