// SPDX-License-Identifier: Apache-2.0
// Keccak on a single state, for hashes that are computed by themselves.
#pragma once

#include <cstring>

#include "core/cpu_features.hpp"
#include "prim/keccak/lanes/keccak_lanes.hpp"
#include "prim/keccak/words.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

#ifdef POLYKEM_ISA_AVX512

/// Eight words, of which a plane uses the first five: word x of plane y is the standard's lane (x, y).
struct alignas(64) PlaneWords {
  uint64_t at[8] = {};
};

/// The indices by which lane x of a permuted vector is lane (x + kShift) mod 5 of the vector.
template <size_t kShift>
inline constexpr PlaneWords kRotatedLanes = [] {
  PlaneWords index;
  for (size_t x = 0; x < 5; ++x)
    index.at[x] = (x + kShift) % 5;
  return index;
}();

/// Returns the plane that has word x of diagonal `row`: see PlaneState::round.
constexpr size_t plane_of_diagonal(size_t row, size_t x) {
  return (x + 2 * row) % 5;
}

template <size_t kRow>
inline constexpr PlaneWords kDiagonalRho = [] {
  PlaneWords offsets;
  for (size_t x = 0; x < 5; ++x)
    offsets.at[x] = static_cast<uint64_t>(kRho.at[x + 5 * plane_of_diagonal(kRow, x)]);
  return offsets;
}();

/// A state with a plane in each of five registers, in which it stays between blocks.
class PlaneState {
 public:
  PlaneState() {
    for (V64& plane : planes_)
      plane = V64::zero();
  }

  /// Adds kWords words at `in` to the first kWords words of the state.
  template <size_t kWords>
  POLYKEM_INLINE void absorb(const uint8_t* in) {
    each_plane([&](auto y) __attribute__((always_inline)) {
      constexpr size_t kHere = words_of_plane(kWords, y);
      if constexpr (kHere > 0)
        planes_[y].r = _mm512_xor_si512(planes_[y].r, _mm512_maskz_loadu_epi64((1 << kHere) - 1, in + 40 * y));
    });
  }

  template <size_t kWords>
  POLYKEM_INLINE void squeeze(uint8_t* out) const {
    each_plane([&](auto y) __attribute__((always_inline)) {
      constexpr size_t kHere = words_of_plane(kWords, y);
      if constexpr (kHere > 0) _mm512_mask_storeu_epi64(out + 40 * y, (1 << kHere) - 1, planes_[y].r);
    });
  }

  POLYKEM_INLINE void permute() {
    V64 p[5] = {planes_[0], planes_[1], planes_[2], planes_[3], planes_[4]};
#pragma GCC unroll 2
    for (size_t i = 0; i < 24; ++i)
      round(p, kIota.at[i]);
    for (size_t y = 0; y < 5; ++y)
      planes_[y] = p[y];
  }

 private:
  static constexpr size_t words_of_plane(size_t words, size_t y) {
    return words <= 5 * y ? 0 : words - 5 * y < 5 ? words - 5 * y : 5;
  }
  template <class F>
  static POLYKEM_INLINE void each_plane(F&& f) {
    [&]<size_t... kY>(std::index_sequence<kY...>) __attribute__((always_inline)) {
      (f(std::integral_constant<size_t, kY>{}), ...);
    }
    (std::make_index_sequence<5>{});
  }
  static POLYKEM_INLINE V64 words(const PlaneWords& p) {
    return V64::load(p.at);
  }
  template <size_t kShift>
  static POLYKEM_INLINE V64 rotated(V64 plane) {
    if constexpr (kShift % 5 == 0) return plane;
    return {_mm512_permutexvar_epi64(words(kRotatedLanes<kShift % 5>).r, plane.r)};
  }
  static POLYKEM_INLINE V64 blend(__mmask8 second, V64 a, V64 b) {
    return {_mm512_mask_blend_epi64(second, a.r, b.r)};
  }
  /// Returns the words that pi brings to row kRow, each still in its lane.
  template <size_t kRow>
  static POLYKEM_INLINE V64 diagonal(const V64 (&p)[5]) {
    const auto plane = [&](size_t x) __attribute__((always_inline)) {
      return p[plane_of_diagonal(kRow, x)];
    };
    return blend(0x10, blend(0x0c, blend(0x02, plane(0), plane(1)), blend(0x08, plane(2), plane(3))), plane(4));
  }
  template <size_t kRow>
  static POLYKEM_INLINE V64 rho_pi_chi(V64 diagonal) {
    const V64 b = {_mm512_rolv_epi64(diagonal.r, words(kDiagonalRho<kRow>).r)};
    return xor_andnot(rotated<3 * kRow>(b), rotated<3 * kRow + 1>(b), rotated<3 * kRow + 2>(b));
  }

  /// Computes a round. Word (X, Y) after pi was word x = X + 3 Y of plane x + 2 Y. So row Y is gathered by blends,
  /// which wait for nothing while theta sums the columns, and chi rotates it into place. [FIPS202, 3.2]
  static POLYKEM_INLINE void round(V64 (&p)[5], uint64_t iota) {
    const V64 sums = xor3(xor3(p[0], p[1], p[2]), p[3], p[4]);
    const V64 d[5] = {diagonal<0>(p), diagonal<1>(p), diagonal<2>(p), diagonal<3>(p), diagonal<4>(p)};
    const V64 left = rotated<4>(sums), right = rotated<1>(sums.rol<1>());
    p[0] = rho_pi_chi<0>(xor3(d[0], left, right));
    p[1] = rho_pi_chi<1>(xor3(d[1], left, right));
    p[2] = rho_pi_chi<2>(xor3(d[2], left, right));
    p[3] = rho_pi_chi<3>(xor3(d[3], left, right));
    p[4] = rho_pi_chi<4>(xor3(d[4], left, right));
    p[0].r = _mm512_mask_xor_epi64(p[0].r, 1, p[0].r, _mm512_set1_epi64(static_cast<long long>(iota)));
  }

  V64 planes_[5];
};

#endif

/// A state in general registers and memory.
class WordState {
 public:
  template <size_t kWords>
  void absorb(const uint8_t* in) {
    for (size_t w = 0; w < kWords; ++w) {
      uint64_t word;
      std::memcpy(&word, in + 8 * w, 8);
      words_[w] ^= word;
    }
  }
  template <size_t kWords>
  void squeeze(uint8_t* out) const {
    std::memcpy(out, words_, 8 * kWords);
  }
  void permute() { permute_words(words_); }

 private:
  uint64_t words_[kStateWords] = {};
};

/// Calls compute(state) with a new state, in the form that permutes in less time on this CPU
/// (docs/adr/0017-keccak-on-eight-states.md).
template <class F>
POLYKEM_INLINE void with_single_state(F&& compute) {
#ifdef POLYKEM_ISA_AVX512
  if (kCpuByIntel || kCpuIsZen5) {
    PlaneState state;
    return compute(state);
  }
#endif
  WordState state;
  compute(state);
}

/// Sets `block` to the last block of a message: its last `tail` < kRate bytes at `in`, the suffix and the padding.
/// [FIPS202, 5.1]
template <size_t kRate>
POLYKEM_INLINE void pad_block(uint8_t (&block)[kRate], const uint8_t* in, size_t tail, uint8_t suffix) {
  std::memset(block, 0, kRate);
  std::memcpy(block, in, tail);
  block[tail] = suffix;
  block[kRate - 1] |= 0x80;
}

/// Computes the first kOut <= kRate bytes of the sponge over kBytes bytes at `in`; kOut is a multiple of 8.
/// [FIPS202, 4]
template <size_t kRate, uint8_t kSuffix, size_t kOut, size_t kBytes>
POLYKEM_NOINLINE void hash_single(uint8_t* out, const uint8_t* in) {
  static_assert(kOut % 8 == 0 && kOut <= kRate);
  with_single_state([&](auto& state) __attribute__((always_inline)) {
    uint8_t last[kRate];
    for (size_t at = 0; at + kRate <= kBytes; at += kRate) {
      state.template absorb<kRate / 8>(in + at);
      state.permute();
    }
    pad_block<kRate>(last, in + kBytes / kRate * kRate, kBytes % kRate, kSuffix);
    state.template absorb<kRate / 8>(last);
    state.permute();
    state.template squeeze<kOut / 8>(out);
  });
}

inline constexpr size_t kSha3_256Rate = 136, kSha3_512Rate = 72;
inline constexpr uint8_t kSha3Suffix = 0x06, kShakeSuffix = 0x1f;

/// Computes SHA3-256 of kBytes bytes. [FIPS202, 6]
template <size_t kBytes>
void sha3_256_single(uint8_t* out, const uint8_t* in) {
  hash_single<kSha3_256Rate, kSha3Suffix, 32, kBytes>(out, in);
}
/// Computes SHA3-512 of kBytes bytes. [FIPS202, 6]
template <size_t kBytes>
void sha3_512_single(uint8_t* out, const uint8_t* in) {
  hash_single<kSha3_512Rate, kSha3Suffix, 64, kBytes>(out, in);
}
/// Computes 32 bytes of SHAKE256 of kBytes bytes. [FIPS202, 6]
template <size_t kBytes>
void shake256_single(uint8_t* out, const uint8_t* in) {
  hash_single<kSha3_256Rate, kShakeSuffix, 32, kBytes>(out, in);
}

/// The hashes of row_hashes.hpp for one message; `count` is 1.
struct SingleHashes {
  template <size_t kBytes>
  static void sha3_256(ByteRows out, ConstByteRows in, size_t) {
    sha3_256_single<kBytes>(out.data, in.data);
  }
  template <size_t kBytes>
  static void sha3_512(ByteRows out, ConstByteRows in, size_t) {
    sha3_512_single<kBytes>(out.data, in.data);
  }
  template <size_t kBytes>
  static void shake256(ByteRows out, ConstByteRows in, size_t) {
    shake256_single<kBytes>(out.data, in.data);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
