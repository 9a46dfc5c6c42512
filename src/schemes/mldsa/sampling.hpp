// SPDX-License-Identifier: Apache-2.0
// Samples polynomials from pseudorandom bytes. [FIPS204, 7.3]
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "ct/ct.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/mldsa/packing.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

inline constexpr size_t kShake128Rate = static_cast<size_t>(Shake::Strength::kShake128);
inline constexpr size_t kShake256Rate = static_cast<size_t>(Shake::Strength::kShake256);

/// A polynomial that takes bytes until it has 256 coefficients.
class Rejection {
 public:
  explicit Rejection(Poly& out) : out_(out.c) {}

  bool full() const { return filled_ == kN; }

  /// Takes uniform coefficients, from every three bytes whose lowest 23 bits are below q. They are public.
  /// [FIPS204, Alg 14, Alg 30]
  void take_uniform(std::span<const uint8_t> bytes) {
    size_t i = 0;
#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)
    constexpr size_t kRead = 3 * lanes::kGroup + 4;  // AVX2 reads 4 bytes beyond
    for (; i + kRead <= bytes.size() && filled_ + lanes::kGroup <= kN; i += 3 * lanes::kGroup)
      filled_ += lanes::take_uniform_group(out_ + filled_, bytes.data() + i);
#endif
    for (; i + 3 <= bytes.size() && !full(); i += 3) {
      const int32_t x = bytes[i] | bytes[i + 1] << 8 | (bytes[i + 2] & 0x7f) << 16;
      out_[filled_] = x;
      filled_ += x < kQ;
    }
  }

  /// Takes coefficients in [-kEta, kEta], from every half byte that is small enough. Which half bytes are rejected is
  /// public, since it says nothing about the others. [FIPS204, Alg 15, Alg 31]
  template <int32_t kEta>
  void take_small(std::span<const uint8_t> bytes) {
    constexpr unsigned kLimit = kEta == 2 ? 15 : 9;
    const auto coefficient = [](int32_t half) { return kEta - (kEta == 2 ? half - 5 * (half * 205 >> 10) : half); };
#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)
    uint8_t halves[kN + 8];
    const size_t before = filled_;
    for (size_t i = 0; i + 4 <= bytes.size() && !full(); i += 4)
      filled_ = std::min(kN, filled_ + lanes::take_small_group<kLimit>(halves + filled_ - before, bytes.data() + i));
    for (size_t i = before; i < filled_; ++i)
      out_[i] = coefficient(halves[i - before]);
#else
    for (size_t i = 0; i < bytes.size() && !full(); ++i) {
      for (const int32_t half : {bytes[i] & 15, bytes[i] >> 4}) {
        int32_t rejected = mask_negative(static_cast<int32_t>(kLimit) - 1 - half);
        ct::declassify(&rejected, sizeof rejected);
        if (rejected == 0 && !full()) out_[filled_++] = coefficient(half);
      }
    }
#endif
  }

 private:
  int32_t* out_;
  size_t filled_ = 0;
};

/// Samples c, which has tau coefficients of 1 or -1, from the bytes that `squeeze` returns: eight bytes of signs, then
/// positions. c is public. [FIPS204, Alg 29]
template <class Squeeze>
void sample_in_ball(Poly& c, size_t tau, Squeeze&& squeeze) {
  std::memset(c.c, 0, sizeof c.c);
  uint64_t signs = 0;
  for (unsigned i = 0; i < 8; ++i)
    signs |= uint64_t{squeeze()} << (8 * i);
  for (size_t i = kN - tau; i < kN; ++i) {
    size_t j = squeeze();
    while (j > i)
      j = squeeze();
    c.c[i] = c.c[j];
    c.c[j] = 1 - 2 * static_cast<int32_t>(signs & 1);
    signs >>= 1;
  }
}

/// The bytes of SHAKE256(seed), of which `begin` has been squeezed already.
class Stream {
 public:
  Stream(std::span<const uint8_t> seed, std::span<const uint8_t> begin) : seed_(seed), bytes_(begin) {}

  uint8_t operator()() {
    if (next_ == bytes_.size()) refill();
    return bytes_[next_++];
  }

 private:
  /// Computes all of the output again, with a block more each time. This is seldom needed.
  void refill() {
    Shake xof(Shake::Strength::kShake256);
    xof.absorb(seed_);
    for (size_t block = 0; block <= blocks_; ++block)
      xof.squeeze(block_);
    ++blocks_;
    bytes_ = block_;
    next_ = 0;
  }

  std::span<const uint8_t> seed_, bytes_;
  uint8_t block_[kShake256Rate] = {};
  size_t next_ = 0, blocks_ = 1;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
