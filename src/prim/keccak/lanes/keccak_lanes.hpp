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

/// Rotation of word x + 5y, by the walk of rho. Words of the state are FIPS 202's lanes. [FIPS202, 3.2.2]
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

/// Row kRow after theta's change of the columns, rho, pi and chi: its word x comes from word (x', y') with x' = x + 3
/// kRow, y' = x. [FIPS202, 3.2.1 to 3.2.4]
template <size_t kRow, size_t... kX>
POLYKEM_INLINE void theta_rho_pi_chi_row(V64* out, const V64* in, const V64* change, std::index_sequence<kX...>) {
  const V64 b[5] = {(in[(kX + 3 * kRow) % 5 + 5 * kX] ^ change[(kX + 3 * kRow) % 5])
                        .template rol<kRho.at[(kX + 3 * kRow) % 5 + 5 * kX]>()...};
  ((out[kX + 5 * kRow] = xor_andnot(b[kX], b[(kX + 1) % 5], b[(kX + 2) % 5])), ...);
}

/// One round of Keccak-f from `in` to `out`. The CPU has half as many units for rotations, so they are spread among the
/// other operations. [FIPS202, 3.2]
template <size_t... kY>
POLYKEM_INLINE void keccak_round(V64* out, const V64* in, V64 iota, std::index_sequence<kY...> five) {
  const V64 column[5] = {xor3(xor3(in[kY], in[kY + 5], in[kY + 10]), in[kY + 15], in[kY + 20])...};
  const V64 change[5] = {(column[(kY + 4) % 5] ^ column[(kY + 1) % 5].template rol<1>())...};
  (theta_rho_pi_chi_row<kY>(out, in, change, five), ...);
  out[0] = out[0] ^ iota;
}

/// The permutation on states that `load` reads and `store` writes word by word. Only constants index the arrays of the
/// rounds, so that compilers keep them in registers.
template <class Load, class Store, size_t... kWord>
POLYKEM_INLINE void keccak_permute_words(Load load, Store store, std::index_sequence<kWord...>) {
  constexpr auto kRows = std::make_index_sequence<5>();
  V64 even[kStateWords] = {load(kWord)...}, odd[kStateWords];
#pragma GCC unroll 1
  for (size_t round = 0; round < 24; round += 2) {
    keccak_round(odd, even, V64::set1(kIota.at[round]), kRows);
    keccak_round(even, odd, V64::set1(kIota.at[round + 1]), kRows);
  }
  (store(kWord, even[kWord]), ...);
}

/// Keccak-f[1600] on V64::kLanes states in structure-of-arrays form.
POLYKEM_INLINE void keccak_permute(V64 (&state)[kStateWords]) {
  keccak_permute_words([&](size_t i) { return state[i]; }, [&](size_t i, V64 word) { state[i] = word; },
                       std::make_index_sequence<kStateWords>());
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

  /// Writes the first `length` bytes and destroys the state.
  void squeeze_all(uint8_t* const (&out)[kLanes], size_t length) {
    alignas(64) uint8_t block[kLanes][kLanes * 8];
    for (size_t offset = 0; offset < length; offset += kRate) {
      if (offset > 0) keccak_permute(state_);
      const size_t now = length - offset < kRate ? length - offset : kRate;
      size_t word = 0;
      for (; (word + kLanes) * 8 <= now; word += kLanes)
        squeeze_words(word, [&](size_t i, V64 v) { v.store_unaligned(out[i] + offset + word * 8); });
      if (word * 8 < now) {
        squeeze_words(word, [&](size_t i, V64 v) { v.store(block[i]); });
        for (size_t i = 0; i < kLanes; ++i)
          std::memcpy(out[i] + offset + word * 8, block[i], now - word * 8);
      }
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

  /// Writes words [word, word + kLanes) of each message.
  template <class Store>
  POLYKEM_INLINE void squeeze_words(size_t word, Store store) const {
    V64 v[kLanes];
    for (size_t j = 0; j < kLanes; ++j)
      v[j] = state_[word + j < kStateWords ? word + j : 0];
    transpose_words(v);
    for (size_t i = 0; i < kLanes; ++i)
      store(i, v[i]);
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

/// A hash of `count` messages, V64::kLanes at a time. If lanes are left over, several of them write the same last
/// output.
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
  keccak_permute_words([&](size_t i) { return V64::load(states + i * V64::kLanes); },
                       [&](size_t i, V64 word) { word.store(states + i * V64::kLanes); },
                       std::make_index_sequence<kStateWords>());
}

inline constexpr KeccakLanes kKeccakLanesTable = {V64::kLanes,          sha3_256_rows,        sha3_512_rows,
                                                  hash_rows<168, 0x1f>, hash_rows<136, 0x1f>, permute_states};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lanes
