// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/cpu_features.hpp"
#include "prim/keccak/constants.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/simd/vec64.hpp"
#if defined(POLYKEM_ISA_AVX512)
#include "prim/keccak/avx512/overlapped.hpp"
#elif defined(POLYKEM_ISA_NEON)
#include "prim/keccak/neon/permute.hpp"
#endif

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

using simd::V64;

#ifndef POLYKEM_ISA_NEON

/// Computes row kRow of a round: theta's change of the columns, rho, pi and chi. Before chi, its word x is word
/// (x', y') with x' = x + 3 kRow, y' = x. V is V64, or another type with its operations. [FIPS202, 3.2.1 to 3.2.4]
template <size_t kRow, class V, size_t... kX>
POLYKEM_INLINE void theta_rho_pi_chi_row(V* out, const V* in, const V* change, std::index_sequence<kX...>) {
  const V b[5] = {(in[(kX + 3 * kRow) % 5 + 5 * kX] ^ change[(kX + 3 * kRow) % 5])
                      .template rol<kRho.at[(kX + 3 * kRow) % 5 + 5 * kX]>()...};
  ((out[kX + 5 * kRow] = xor_andnot(b[kX], b[(kX + 1) % 5], b[(kX + 2) % 5])), ...);
}

/// Computes one round of Keccak-f[1600] from `in` to `out`. The CPU has half as many units for rotations as for other
/// operations, so rotations are spread among these. [FIPS202, 3.2]
template <size_t... kY>
POLYKEM_INLINE void keccak_round(V64* out, const V64* in, V64 iota, std::index_sequence<kY...> five) {
  const V64 column[5] = {xor3(xor3(in[kY], in[kY + 5], in[kY + 10]), in[kY + 15], in[kY + 20])...};
  const V64 change[5] = {(column[(kY + 4) % 5] ^ column[(kY + 1) % 5].template rol<1>())...};
  (theta_rho_pi_chi_row<kY>(out, in, change, five), ...);
  out[0] = out[0] ^ iota;
}

/// Permutes states that `load` reads and `store` writes word by word. Only constants index the arrays of the rounds, so
/// that compilers keep them in registers.
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

#endif

#if defined(POLYKEM_ISA_AVX512)

/// Computes keccak_permute8() in the order that the compiler chooses.
POLYKEM_NOINLINE inline void keccak_permute8_compiled(uint64_t* states) {
  keccak_permute_words([&](size_t i) { return V64::load(states + i * V64::kLanes); },
                       [&](size_t i, V64 word) { word.store(states + i * V64::kLanes); },
                       std::make_index_sequence<kStateWords>());
}

/// Permutes V64::kLanes states by Keccak-f[1600]: see src/prim/keccak/README.md. Word w of state i is
/// states[w * V64::kLanes + i], 64-byte aligned.
POLYKEM_INLINE void keccak_permute(uint64_t* states, KeccakForm form = keccak_form()) {
  form == KeccakForm::kCompiled ? keccak_permute8_compiled(states) : keccak_permute8(states, kIota.at, form);
}

#elif defined(POLYKEM_ISA_NEON)

POLYKEM_INLINE void keccak_permute(uint64_t* states) {
  keccak_permute4(states);
}

#else

POLYKEM_INLINE void keccak_permute(uint64_t* states) {
  keccak_permute_words([&](size_t i) { return V64::load(states + i * V64::kLanes); },
                       [&](size_t i, V64 word) { word.store(states + i * V64::kLanes); },
                       std::make_index_sequence<kStateWords>());
}

#endif

/// V64::kLanes states, and output of theirs that does not fill a vector of each message yet, which waits before the
/// words of the next block. So vectors are stored whole, and to whole cache lines if the rows begin there. The
/// destructor zeroizes all of it if kSecret.
template <size_t kRate, bool kSecret = true>
class LaneStates {
 public:
  static constexpr size_t kLanes = V64::kLanes;
  static constexpr size_t kRateWords = kRate / 8;
  static constexpr size_t kGroupBytes = kLanes * 8;  ///< words are transposed in groups of kLanes

  LaneStates() {}  // the user sets all words, or clears them
  LaneStates(const LaneStates&) = delete;
  LaneStates& operator=(const LaneStates&) = delete;
  ~LaneStates() {
    if (!kSecret) return;
    clear(words_, kLanes - 1 + kStateWords);
    asm volatile("" : : "r"(words_) : "memory");
  }

  V64* state() { return words_ + kLanes - 1; }
  POLYKEM_INLINE void clear() { clear(state(), kStateWords); }
  void discard_pending() { pending_words_ = 0; }
  POLYKEM_NOINLINE void permute() { permute_inline(); }
  POLYKEM_INLINE void permute_inline() { keccak_permute(reinterpret_cast<uint64_t*>(state())); }

  /// Writes the output of the states as they are to the rows from `at` on, as far as it fills vectors and is not beyond
  /// `length`, and keeps the rest for the next call unless `length` is reached. Returns how far it has got, rounded up
  /// to a multiple of kGroupBytes.
  template <class Row>
  POLYKEM_INLINE size_t squeeze(Row&& row, size_t at, size_t length) {
    const V64 *from = state() - pending_words_, *const end = state() + kRateWords;
    for (; static_cast<size_t>(end - from) >= kLanes && at < length; from += kLanes, at += kGroupBytes)
      write(row, at, length, from);
    pending_words_ = at < length ? static_cast<size_t>(end - from) : 0;
    for (size_t j = 0; j < pending_words_; ++j)
      (state() - pending_words_)[j] = from[j];
    return at;
  }
  /// Returns the number of bytes of each message that wait.
  size_t pending_bytes() const { return pending_words_ * 8; }
  /// Writes the bytes that wait, which fill the rows up to `length`.
  template <class Row>
  POLYKEM_INLINE void squeeze_pending(Row&& row, size_t at, size_t length) {
    write(row, at, length, state() - pending_words_);
    pending_words_ = 0;
  }
  /// Writes the first `words` >= kLanes words of the states to the rows from `at` on; it is used instead of squeeze()
  /// and squeeze_pending().
  template <class Row>
  POLYKEM_INLINE void squeeze_block(Row&& row, size_t at, size_t words) {
    for (size_t word = 0; word < words; word += kLanes) {
      const size_t first = std::min(word, words - kLanes);  // the last vectors overlap those before
      V64 v[kLanes];
      for (size_t j = 0; j < kLanes; ++j)
        v[j] = state()[first + j];
      transpose_words(v);
      for (size_t i = 0; i < kLanes; ++i)
        v[i].store_unaligned(row(i) + at + first * 8);
    }
  }

 private:
  /// Clears words in an unrolled loop, since compilers make calls or string instructions of a loop, which take longer.
  static POLYKEM_INLINE void clear(V64* words, size_t count) {
#pragma GCC unroll 32
    for (size_t i = 0; i < count; ++i)
      words[i] = V64::zero();
  }

  template <class Row>
  static POLYKEM_INLINE void write(Row&& row, size_t at, size_t length, const V64* from) {
    V64 v[kLanes];
    load_transposed(
        v, [&](size_t j) __attribute__((always_inline)) { return from + j; });
    if (length - at >= kGroupBytes) {
      for (size_t i = 0; i < kLanes; ++i)
        v[i].store_unaligned(row(i) + at);
    } else {
      for (size_t i = 0; i < kLanes; ++i)
        v[i].store_first(row(i) + at, length - at);
    }
  }

  V64 words_[kLanes - 1 + kStateWords];  ///< the words that wait, at most kLanes - 1, and the state
  size_t pending_words_ = 0;
};

/// Absorbs and squeezes one group of V64::kLanes messages. Lanes past the batch repeat its last message.
template <size_t kRate, uint8_t kSuffix>
class LaneSponge {
 public:
  static constexpr size_t kLanes = V64::kLanes;

  /// `form`: with AVX-512 only.
  explicit LaneSponge(KeccakForm form) : form_(form) {
    static_cast<void>(form_);  // elsewhere nothing reads it
    states_.clear();
  }

  /// Absorbs those blocks of `length` bytes of each message that are whole. Returns how many bytes they have.
  size_t absorb_blocks(const uint8_t* const (&in)[kLanes], size_t length) {
#ifdef POLYKEM_ISA_AVX512
    if (overlaps() && length >= 2 * kRate) {
      absorb_whole(in, 0);  // no permutation runs yet
      return absorb_overlapped<kRateWords>(words(), in, kRate, length, form_);
    }
#endif
    size_t offset = 0;
    for (; length - offset >= kRate; offset += kRate) {
      absorb_whole(in, offset);
      states_.permute();
    }
    return offset;
  }

  /// Absorbs `length` bytes of each message and the padding.
  void absorb_all(const uint8_t* const (&in)[kLanes], size_t length) {
    const size_t offset = absorb_blocks(in, length), tail = length - offset;
    for (size_t at = 0; at < tail; at += kGroupBytes)
      absorb_group(in, offset + at, at / 8, tail - at < kGroupBytes ? tail - at : kGroupBytes);
    add(tail / 8, V64::set1(uint64_t{kSuffix} << (8 * (tail % 8))));
    add(kRateWords - 1, V64::set1(uint64_t{0x80} << 56));
    states_.permute();
  }

  /// Writes the first `length` bytes of each output.
  void squeeze_all(uint8_t* const (&out)[kLanes], size_t length) {
    const auto row = [&](size_t i) __attribute__((always_inline)) {
      return out[i];
    };
    size_t at = 0;  // after overlapped blocks at most one is left, and nothing below permutes
#ifdef POLYKEM_ISA_AVX512
    if (overlaps() && length > kRate) at = squeeze_overlapped<kRateWords>(words(), out, 0, length, form_);
#endif
    at = states_.squeeze(row, at, length);
    while (at < length) {
      if (length - at <= states_.pending_bytes()) return states_.squeeze_pending(row, at, length);
      states_.permute();
      at = states_.squeeze(row, at, length);
    }
  }

 private:
  static constexpr size_t kRateWords = kRate / 8, kGroupBytes = kLanes * 8;

#ifdef POLYKEM_ISA_AVX512
  bool overlaps() const {
    return form_ != KeccakForm::kCompiled;
  }
  uint64_t (*words())[kLanes] {
    return reinterpret_cast<uint64_t(*)[kLanes]>(states_.state());
  }
#endif
  POLYKEM_INLINE void add(size_t word, V64 x) {
    states_.state()[word] = states_.state()[word] ^ x;
  }

  /// Adds `bytes` <= kGroupBytes bytes of each message to the state from word `word` on.
  POLYKEM_INLINE void absorb_group(const uint8_t* const (&in)[kLanes], size_t offset, size_t word, size_t bytes) {
    V64 v[kLanes];
    if (bytes == kGroupBytes) {
      load_transposed(
          v, [&](size_t i) __attribute__((always_inline)) { return in[i] + offset; });
    } else {
      for (size_t i = 0; i < kLanes; ++i)
        v[i] = V64::load_first(in[i] + offset, bytes);
      transpose_words(v);
    }
    for (size_t j = 0; j < kLanes; ++j)
      add(word + j, v[j]);
  }

  void absorb_whole(const uint8_t* const (&in)[kLanes], size_t offset) {
    constexpr size_t kWhole = kRateWords / kLanes * kLanes;
    for (size_t word = 0; word < kWhole; word += kLanes)
      absorb_group(in, offset + word * 8, word, kGroupBytes);
    if constexpr (kRateWords - kWhole == 1) {
      add(kWhole, V64::load_each(in, offset + kWhole * 8));
    } else {
      absorb_group(in, offset + kWhole * 8, kWhole, kRate - kWhole * 8);
    }
  }

  LaneStates<kRate> states_;
  const KeccakForm form_;
};

/// Hashes `count` messages in two parts, V64::kLanes at a time. If lanes are left over, several of them write the same
/// last output.
template <size_t kRate, uint8_t kSuffix>
void hash_joined_rows(ByteRows out, size_t out_length, ConstByteRows first, size_t first_length, ConstByteRows rest,
                      size_t length, size_t count, KeccakForm form = keccak_form()) {
  for (size_t begin = 0; begin < count; begin += V64::kLanes) {
    const uint8_t *first_rows[V64::kLanes], *rest_rows[V64::kLanes];
    uint8_t* to[V64::kLanes];
    for (size_t i = 0; i < V64::kLanes; ++i) {
      const size_t item = std::min(begin + i, count - 1);
      first_rows[i] = first.data + item * first.stride;
      rest_rows[i] = rest.data + item * rest.stride;
      to[i] = out.data + item * out.stride;
    }
    LaneSponge<kRate, kSuffix> sponge(form);
    sponge.absorb_blocks(first_rows, first_length);
    sponge.absorb_all(rest_rows, length);
    sponge.squeeze_all(to, out_length);
  }
}

template <size_t kRate, uint8_t kSuffix>
void hash_rows(ByteRows out, size_t out_length, ConstByteRows in, size_t length, size_t count) {
  hash_joined_rows<kRate, kSuffix>(out, out_length, in, 0, in, length, count);
}

inline void sha3_256_rows(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  hash_rows<136, 0x06>(out, 32, in, length, count);
}

inline void sha3_512_rows(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  hash_rows<72, 0x06>(out, 64, in, length, count);
}

inline void permute_states(uint64_t* states) {
  keccak_permute(states);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
