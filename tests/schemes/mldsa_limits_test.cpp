// SPDX-License-Identifier: Apache-2.0
// Tests messages and contexts at their limits: none, 255 bytes, offsets and lengths beyond 2^32, invalid offsets.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "prim/keccak/keccak.hpp"
#include "support/signer.hpp"

namespace polykem::test {
namespace {

constexpr size_t k4Gib = size_t{1} << 32;

/// Zeros in pages that the system allocates only when they are written.
class Sparse {
 public:
  explicit Sparse(size_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Sparse() { munmap(memory_, bytes_); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  uint8_t* data() const { return static_cast<uint8_t*>(memory_); }

 private:
  size_t bytes_;
  void* memory_;
};

class Borders : public testing::TestWithParam<const char*> {
 protected:
  Borders() { signer_.keygen(1, Bytes(32, 7), pk_, sk_); }

  std::vector<polykem_status> verify(size_t count, const polykem_messages& messages, const Bytes& sig) const {
    return signer_.verify(count, pk_, messages, sig);
  }

  const Signer signer_{GetParam()};
  Bytes pk_, sk_;
};

/// Items 0 and 1 end and begin at 2^32 or around it; of messages and of contexts.
TEST_P(Borders, OffsetsAround4Gib) {
  constexpr size_t kWidth = 40;
  Bytes text(2 * kWidth);
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<uint8_t>(i);
  const polykem_strings plain = strings(text, kWidth);
  const Bytes right = signer_.sign(2, sk_, deterministic(plain, plain));
  for (const size_t before : {size_t{0}, size_t{3}, kWidth, kWidth + 1, 2 * kWidth}) {
    const size_t begin = k4Gib - before, offsets[] = {begin, begin + kWidth, begin + 2 * kWidth};
    const Sparse memory(offsets[2]);
    std::copy(text.begin(), text.end(), memory.data() + begin);
    const polykem_strings far{memory.data(), offsets, 0, 0};
    EXPECT_EQ(signer_.sign(2, sk_, deterministic(far, far)), right) << before;
    EXPECT_EQ(verify(2, deterministic(far, far), right), std::vector<polykem_status>(2, POLYKEM_OK)) << before;
  }
}

TEST_P(Borders, EmptyMessagesAndContexts) {
  const size_t none[] = {5, 5, 5};
  const Bytes text(8, 1);
  const Bytes right = signer_.sign(2, sk_, deterministic({}));
  const polykem_strings forms[] = {
      {}, {text.data(), none, 0, 0}, {nullptr, none, 0, 0}, {text.data(), nullptr, 0, 0}, {text.data(), nullptr, 0, 1}};
  for (const polykem_strings& messages : forms)
    for (const polykem_strings& contexts : forms)
      EXPECT_EQ(signer_.sign(2, sk_, deterministic(messages, contexts)), right);
  EXPECT_EQ(verify(2, deterministic(strings(text, 1, true)), right),
            std::vector<polykem_status>(2, POLYKEM_ERR_SIGNATURE));
}

TEST_P(Borders, ContextsOf255Bytes) {
  const Bytes context(256, 9), text(4, 2);
  polykem_messages m = deterministic(strings(text, 4, true), strings(context, 255, true));
  const Bytes sig = signer_.sign(1, sk_, m);
  EXPECT_EQ(verify(1, m, sig)[0], POLYKEM_OK);
  m.contexts.width = 254;
  EXPECT_EQ(verify(1, m, sig)[0], POLYKEM_ERR_SIGNATURE);
}

/// Each batch is refused as a whole; neither outputs nor statuses are written.
TEST_P(Borders, WhatLeadsNowhereIsRefused) {
  const Bytes data(600, 4);
  const size_t falling[] = {0, 20, 10}, falls_below_zero[] = {5, 4, 8}, half = std::numeric_limits<size_t>::max() / 2;
  const size_t endless[] = {0, 1, half + 2};
  const size_t long_second[] = {0, 1, 257}, rising[] = {0, 3, 6}, beyond[] = {half, half + 1, half + 2};
  struct Refusal {
    const char* what;
    polykem_messages messages;
  };
  const Refusal refusals[] = {
      {"offsets of messages that fall", deterministic({data.data(), falling, 0, 0})},
      {"offsets that fall at once", deterministic({data.data(), falls_below_zero, 0, 0})},
      {"a message that no memory holds", deterministic({data.data(), endless, 0, 0})},
      {"a width that no memory holds", deterministic({data.data(), nullptr, half + 1, 0})},
      {"widths that no memory holds together", deterministic({data.data(), nullptr, half, 0})},
      {"offsets that no memory has", deterministic({data.data(), beyond, 0, 0})},
      {"a width of messages that are not there", deterministic({nullptr, nullptr, 8, 0})},
      {"a message for all that is not there", deterministic({nullptr, nullptr, 8, 1})},
      {"offsets of messages that are not there", deterministic({nullptr, rising, 0, 0})},
      {"offsets and a width", deterministic({data.data(), rising, 3, 0})},
      {"offsets and one message for all", deterministic({data.data(), rising, 0, 1})},
      {"a width of contexts that are not there", deterministic({}, {nullptr, nullptr, 8, 1})},
      {"offsets of contexts that fall", deterministic({}, {data.data(), falling, 0, 0})},
      {"a context of 256 bytes for all", deterministic({}, {data.data(), nullptr, 256, 1})},
      {"contexts of 256 bytes", deterministic({}, {data.data(), nullptr, 256, 0})},
      {"one context of 256 bytes", deterministic({}, {data.data(), long_second, 0, 0})},
  };
  for (const auto& [what, messages] : refusals) {
    for (const polykem_op op : {POLYKEM_SIGN, POLYKEM_VERIFY}) {
      Bytes sig(2 * signer_.info.signature_bytes, 0xee);
      const Bytes before = sig;
      std::vector<polykem_status> status(2, POLYKEM_ERR_BUSY);
      polykem_request r = signer_.request(op, 2);
      r.key_mode = POLYKEM_KEY_SHARED;
      r.sk = sk_.data();
      r.pk = pk_.data();
      r.messages = &messages;
      r.sig = sig.data();
      r.sig_out = sig.data();
      r.item_status = status.data();
      EXPECT_EQ(polykem_run(signer_.context.get(), &r), POLYKEM_ERR_ARGUMENT) << what;
      EXPECT_EQ(sig, before) << what;
      EXPECT_EQ(status, std::vector<polykem_status>(2, POLYKEM_ERR_BUSY)) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Borders, testing::Values("mldsa44", "mldsa65", "mldsa87"),
                         [](const auto& info) { return std::string(info.param); });

/// Computes mu of a message of zeros without context, hashed in pieces.
Bytes mu_of_zeros(const Bytes& sk, size_t bytes) {
  const Bytes piece(1 << 20);
  const uint8_t head[] = {0, 0};
  Shake xof(Shake::Strength::kShake256);
  xof.absorb(std::span(sk).subspan(64, 64));
  xof.absorb(head);
  for (size_t left = bytes; left > 0; left -= std::min(left, piece.size()))
    xof.absorb(std::span(piece).first(std::min(left, piece.size())));
  Bytes mu(64);
  xof.squeeze(mu);
  return mu;
}

/// A long message beside short ones, so that lanes end at different times. Its whole length counts.
TEST(Full, AMessageOfMoreThan4Gib) {
  constexpr size_t kBytes = k4Gib + 5;
  const Sparse zeros(kBytes + 8);
  const size_t offsets[] = {0, 3, 3 + kBytes, 3 + kBytes + 5};
  const Signer signer("mldsa44");
  Bytes pk, sk;
  signer.keygen(1, Bytes(32, 7), pk, sk);
  const polykem_messages m = deterministic({zeros.data(), offsets, 0, 0});
  const Bytes sig = signer.sign(3, sk, m);
  const size_t size = signer.info.signature_bytes;
  const Bytes second(sig.begin() + static_cast<ptrdiff_t>(size), sig.begin() + static_cast<ptrdiff_t>(2 * size));
  const Bytes mu = mu_of_zeros(sk, kBytes);
  polykem_messages of_mu = deterministic(strings(mu, 64));
  of_mu.kind = POLYKEM_MESSAGE_MU;
  EXPECT_EQ(signer.sign(1, sk, of_mu), second);
  EXPECT_EQ(signer.verify(3, pk, m, sig), std::vector<polykem_status>(3, POLYKEM_OK));
  EXPECT_NE(second, Bytes(sig.end() - static_cast<ptrdiff_t>(size), sig.end())) << "its length modulo 2^32";
}

}  // namespace
}  // namespace polykem::test
