// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <utility>

#include "prim/keccak/keccak_lanes.hpp"
#include "prim/simd/vec64.hpp"

namespace polykem::lanes {
inline namespace POLYKEM_ISA {

using simd::V64;

inline constexpr size_t kStateWords = 25;

/// Rotation of lane x + 5y, by the walk of rho. [FIPS202, 3.2.2]
struct RhoOffsets {
  int at[kStateWords] = {};
  constexpr RhoOffsets() {
    int x = 1, y = 0;
    for (int t = 0; t < 24; ++t) {
      at[x + 5 * y] = ((t + 1) * (t + 2) / 2) % 64;
      const int next_y = (2 * x + 3 * y) % 5;
      x = y;
      y = next_y;
    }
  }
};
inline constexpr RhoOffsets kRho;

/// Round constants by the degree-8 shift register. [FIPS202, 3.2.5]
struct IotaConstants {
  uint64_t at[24] = {};
  constexpr IotaConstants() {
    unsigned r = 1;
    for (int round = 0; round < 24; ++round) {
      for (int j = 0; j < 7; ++j) {
        if (r & 1) at[round] |= uint64_t{1} << ((1 << j) - 1);
        r = (r << 1) ^ ((r >> 7) * 0x171);
      }
    }
  }
};
alignas(64) inline constexpr IotaConstants kIota;

/// Row kRow after rho, pi and chi: its lane x comes from lane (x', y') with x' = x + 3 kRow, y' = x. [FIPS202, 3.2.3]
template <size_t kRow, size_t... kX>
POLYKEM_INLINE void rho_pi_chi_row(V64* out, const V64* in, std::index_sequence<kX...>) {
  const V64 b[5] = {in[(kX + 3 * kRow) % 5 + 5 * kX].template rol<kRho.at[(kX + 3 * kRow) % 5 + 5 * kX]>()...};
  ((out[kX + 5 * kRow] = xor_andnot(b[kX], b[(kX + 1) % 5], b[(kX + 2) % 5])), ...);
}

/// One round of Keccak-f from `in`, which it spoils, to `out`. Theta is done before the rest so that never more than 30
/// values are alive. [FIPS202, 3.2]
template <size_t... kY>
POLYKEM_INLINE void keccak_round(V64* out, V64* in, V64 iota, std::index_sequence<kY...>) {
  constexpr auto kColumns = std::make_index_sequence<5>();
  V64 column[5];
  for (int x = 0; x < 5; ++x)
    column[x] = xor3(xor3(in[x], in[x + 5], in[x + 10]), in[x + 15], in[x + 20]);
  for (int x = 0; x < 5; ++x) {
    const V64 change = column[(x + 4) % 5] ^ column[(x + 1) % 5].template rol<1>();
    for (int y = 0; y < 5; ++y)
      in[x + 5 * y] = in[x + 5 * y] ^ change;
  }
  (rho_pi_chi_row<kY>(out, in, kColumns), ...);
  out[0] = out[0] ^ iota;
}

/// Keccak-f[1600] on V64::kLanes states in structure-of-arrays form.
POLYKEM_INLINE void keccak_permute(V64 (&state)[kStateWords]) {
  constexpr auto kRows = std::make_index_sequence<5>();
  V64 next[kStateWords];
#pragma GCC unroll 1
  for (size_t round = 0; round < 24; round += 2) {
    keccak_round(next, state, V64::set1(kIota.at[round]), kRows);
    keccak_round(state, next, V64::set1(kIota.at[round + 1]), kRows);
  }
}

/// Absorbs and squeezes one group of V64::kLanes messages. Lanes past the batch repeat its last message.
template <size_t kRate, uint8_t kSuffix>
class LaneSponge {
 public:
  static constexpr size_t kLanes = V64::kLanes;
  static constexpr size_t kRateWords = kRate / 8;
  static constexpr size_t kPaddedWords = (kRateWords + kLanes - 1) / kLanes * kLanes;

  LaneSponge() {
    for (V64& word : state_)
      word = V64::zero();
  }

  void absorb_all(const uint8_t* const (&in)[kLanes], size_t length) {
    size_t offset = 0;
    for (; length - offset >= kRate; offset += kRate) {
      const uint8_t* block[kLanes];
      for (size_t i = 0; i < kLanes; ++i)
        block[i] = in[i] + offset;
      absorb_block(block);
    }
    alignas(64) uint8_t last[kLanes][kPaddedWords * 8];
    const uint8_t* block[kLanes];
    const size_t tail = length - offset;
    for (size_t i = 0; i < kLanes; ++i) {
      std::memset(last[i] + tail, 0, kRate - tail);
      std::memcpy(last[i], in[i] + offset, tail);
      last[i][tail] = kSuffix;
      last[i][kRate - 1] |= 0x80;
      block[i] = last[i];
    }
    absorb_block(block);
    wipe(last);
  }

  /// Writes the first `length` bytes; afterwards the state is gone.
  void squeeze_all(uint8_t* const (&out)[kLanes], size_t length) {
    alignas(64) uint8_t block[kLanes][kPaddedWords * 8];
    for (size_t offset = 0; offset < length; offset += kRate) {
      if (offset > 0) keccak_permute(state_);
      const size_t now = length - offset < kRate ? length - offset : kRate;
      for (size_t word = 0; word * 8 < now; word += kLanes) {
        V64 v[kLanes];
        for (size_t j = 0; j < kLanes; ++j)
          v[j] = state_[word + j < kStateWords ? word + j : 0];
        transpose_words(v);
        for (size_t i = 0; i < kLanes; ++i)
          v[i].store(block[i] + word * 8);
      }
      for (size_t i = 0; i < kLanes; ++i)
        std::memcpy(out[i] + offset, block[i], now);
    }
    wipe(block);
    for (V64& word : state_)
      word = V64::zero();
    asm volatile("" : : "r"(state_) : "memory");
  }

 private:
  template <class T>
  static void wipe(T& buffer) {
    std::memset(&buffer, 0, sizeof buffer);
    asm volatile("" : : "r"(&buffer) : "memory");
  }

  void absorb_block(const uint8_t* const (&block)[kLanes]) {
    constexpr size_t kWhole = kRateWords / kLanes * kLanes;
#pragma GCC unroll 8
    for (size_t word = 0; word < kWhole; word += kLanes) {
      V64 v[kLanes];
      for (size_t i = 0; i < kLanes; ++i)
        v[i] = V64::load_unaligned(block[i] + word * 8);
      transpose_words(v);
      for (size_t j = 0; j < kLanes; ++j)
        state_[word + j] = state_[word + j] ^ v[j];
    }
#pragma GCC unroll 8
    for (size_t word = kWhole; word < kRateWords; ++word) {
      alignas(64) uint64_t lane[kLanes];
      for (size_t i = 0; i < kLanes; ++i)
        std::memcpy(&lane[i], block[i] + word * 8, 8);
      state_[word] = state_[word] ^ V64::load(lane);
    }
    keccak_permute(state_);
  }

  V64 state_[kStateWords];
};

/// A hash of `count` messages, V64::kLanes at a time. Where lanes are left over, several write the same last output.
template <size_t kRate, uint8_t kSuffix>
void hash_rows(ByteRows out, size_t out_length, ConstByteRows in, size_t length, size_t count) {
  for (size_t first = 0; first < count; first += V64::kLanes) {
    const uint8_t* from[V64::kLanes];
    uint8_t* to[V64::kLanes];
    for (size_t i = 0; i < V64::kLanes; ++i) {
      const size_t item = first + i < count ? first + i : count - 1;
      from[i] = in.data + item * in.stride;
      to[i] = out.data + item * out.stride;
    }
    LaneSponge<kRate, kSuffix> sponge;
    sponge.absorb_all(from, length);
    sponge.squeeze_all(to, out_length);
  }
}

inline void sha3_256_rows(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  hash_rows<136, 0x06>(out, 32, in, length, count);
}

inline void sha3_512_rows(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  hash_rows<72, 0x06>(out, 64, in, length, count);
}

inline void permute_states(uint64_t* states) {
  V64 state[kStateWords];
  for (size_t word = 0; word < kStateWords; ++word)
    state[word] = V64::load(states + word * V64::kLanes);
  keccak_permute(state);
  for (size_t word = 0; word < kStateWords; ++word)
    state[word].store(states + word * V64::kLanes);
}

inline constexpr KeccakLanes kKeccakLanesTable = {V64::kLanes,          sha3_256_rows,        sha3_512_rows,
                                                  hash_rows<168, 0x1f>, hash_rows<136, 0x1f>, permute_states};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lanes
