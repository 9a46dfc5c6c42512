// SPDX-License-Identifier: Apache-2.0
// Converts coefficients to the bit planes of the division steps, and bit planes to coefficients.
#pragma once

#include <cstring>

#include "schemes/ntru/polyinv/lanes/divsteps.hpp"
#ifdef POLYKEM_ISA_NEON
#include "schemes/ntru/polyinv/neon/bits.hpp"
#endif

namespace polykem::polyinv {
inline namespace POLYKEM_ISA {

/// Returns, in bit 0, the bit of a coefficient that plane `plane` of its field holds.
template <class Field>
POLYKEM_INLINE V16 coefficient_bit(V16 x, size_t plane) {
  if constexpr (Field::kPlanes == 1) return x & V16::set1(1);
  return plane == 1 ? x.shr<1>() : (x | x.shr<1>()) & V16::set1(1);
}

#ifdef POLYKEM_ISA_NEON

/// Returns x shifted by a number of bits that is known only at run time, at most 16.
POLYKEM_INLINE V16 shifted_left(V16 x, size_t bits) {
  return x.shl_by(bits);
}
POLYKEM_INLINE V16 shifted_right(V16 x, size_t bits) {
  return x.shr_by(bits);
}

#else

/// Returns x shifted by a number of bits that is known only at run time, at most 16.
POLYKEM_INLINE V16 shifted_left(V16 x, size_t bits) {
  const __m128i count = _mm_cvtsi32_si128(static_cast<int>(bits));
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_sll_epi16(x.r, count)};
#else
  return {_mm256_sll_epi16(x.r, count)};
#endif
}
POLYKEM_INLINE V16 shifted_right(V16 x, size_t bits) {
  const __m128i count = _mm_cvtsi32_si128(static_cast<int>(bits));
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_srl_epi16(x.r, count)};
#else
  return {_mm256_srl_epi16(x.r, count)};
#endif
}

#endif

/// Returns the number of indices (16 group + b) kSteps + i, b = 0, .., 15, that are below `bound`.
template <size_t kSteps>
POLYKEM_INLINE size_t count_below(size_t bound, size_t group, size_t i) {
  const size_t below = bound > i ? (bound - i + kSteps - 1) / kSteps : 0;
  const size_t skipped = 16 * group;
  return below <= skipped ? 0 : (below - skipped < 16 ? below - skipped : 16);
}

/// Sets the whole state to P = x^kSteps Phi_n and Q = 1.
template <class Steps>
POLYKEM_INLINE void start_state(uint16_t* state, size_t n) {
  std::memset(state, 0, Steps::segments(n) * Steps::kSegmentWords * sizeof *state);
  for (size_t segment = 0; segment < Steps::segments(n); ++segment) {
    for (size_t i = 0; i < Steps::kSteps; ++i) {
      uint16_t* words = state + Steps::offset(segment, 0, 0, i);
      for (size_t word = 0; word < kRegisterWords; ++word) {
        const size_t group = Steps::kBits == 16 ? segment : segment * kRegisterWords + word;
        const size_t first = count_below<Steps::kSteps>(Steps::kSteps, group, i);
        const size_t end = count_below<Steps::kSteps>(Steps::kSteps + n, group, i);
        words[word] = static_cast<uint16_t>((1u << end) - (1u << first));
      }
    }
  }
  uint16_t* constant = state + Steps::offset(0, 1, 0, 0);
  for (size_t word = 0; word < (Steps::kBits == 16 ? kRegisterWords : 1); ++word)
    constant[word] = 1;
}

/// Adds x^kSteps g to Q, where g(i) = a(n - 2 - i), for an item in each 16-bit lane.
template <class Field, class Steps>
POLYKEM_INLINE void load_items(uint16_t* state, const uint16_t* a, size_t n) {
  constexpr size_t kSteps = Steps::kSteps;
  for (size_t segment = 0; segment * 16 * kSteps < n - 1 + kSteps; ++segment) {
    for (size_t i = 0; i < kSteps; ++i) {
      const size_t first = count_below<kSteps>(kSteps, segment, i);
      const size_t end = count_below<kSteps>(kSteps + n - 1, segment, i);
      V16 plane[Field::kPlanes];
      for (V16& p : plane)
        p = V16::zero();
      for (size_t b = end; b-- > first;) {
        const V16 row = V16::load(a + (n - 2 + kSteps - (16 * segment + b) * kSteps - i) * kRegisterWords);
        for (size_t k = 0; k < Field::kPlanes; ++k)
          plane[k] = (plane[k] + plane[k]) | coefficient_bit<Field>(row, k);
      }
      for (size_t k = 0; k < Field::kPlanes; ++k) {
        uint16_t* words = state + Steps::offset(segment, 1, k, i);
        (V16::load(words) | shifted_left(plane[k], first)).store(words);
      }
    }
  }
}

/// Stores inverse(i) = v(n - 2 - i), where P = x^(1 + excess) v, for an item in each 16-bit lane.
template <class Field, class Steps>
POLYKEM_INLINE void store_items(uint16_t* inverse, const uint16_t* state, size_t n) {
  constexpr size_t kSteps = Steps::kSteps;
  const size_t lowest = 1 + Steps::excess(n);
  const V16 one = V16::set1(1);
  for (size_t segment = 0; segment * 16 * kSteps < n - 1 + lowest; ++segment) {
    for (size_t i = 0; i < kSteps; ++i) {
      const size_t first = count_below<kSteps>(lowest, segment, i);
      const size_t end = count_below<kSteps>(lowest + n - 1, segment, i);
      V16 plane[Field::kPlanes];
      for (size_t k = 0; k < Field::kPlanes; ++k) {
        plane[k] = V16::load(state + Steps::offset(segment, 0, k, i));
        if (k == 1) plane[k] = plane[k] & V16::load(state + Steps::offset(segment, 0, 0, i));
        plane[k] = shifted_right(plane[k], first);
      }
      for (size_t b = first; b < end; ++b) {
        V16 value = plane[0] & one;
        if constexpr (Field::kPlanes == 2) value = value + (plane[1] & one);
        value.store(inverse + (n - 2 + lowest - (16 * segment + b) * kSteps - i) * kRegisterWords);
        for (V16& p : plane)
          p = p.template shr<1>();
      }
    }
  }
  V16::zero().store(inverse + (n - 1) * kRegisterWords);
}

/// A mask of bits 0, kSteps, 2 kSteps, .. of 64 coefficients.
template <size_t kSteps>
inline constexpr uint64_t kEveryStep = ~uint64_t{0} / ((uint64_t{1} << kSteps) - 1);

/// The number of bytes of a register that 64 coefficients with equal indices modulo kSteps fill.
template <size_t kSteps>
inline constexpr size_t kGroupBytes = 8 / kSteps;

/// Returns the byte offset in the state of the planes of coefficients 64 group, ..
template <class Steps>
POLYKEM_INLINE size_t group_byte(size_t group, size_t poly, size_t plane, size_t i) {
  constexpr size_t kGroups = Steps::kBits * Steps::kSteps / 64;  // in a segment
  return Steps::offset(group / kGroups, poly, plane, i) * sizeof(uint16_t) +
         group % kGroups * kGroupBytes<Steps::kSteps>;
}

#ifdef POLYKEM_ISA_NEON

using simd::bits_of_bytes;

#else

/// Returns bit `kBit` of each of 64 bytes.
template <int kBit>
POLYKEM_INLINE uint64_t bits_of_bytes(const uint8_t* bytes) {
  const auto half = [&](size_t at) __attribute__((always_inline)) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + at));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(x, 7 - kBit)));
  };
  return half(0) | uint64_t{half(32)} << 32;
}

/// take_every_step gathers the bits of `planes` that kEveryStep names, from bit i on, side by side; put_every_step puts
/// them back.
template <size_t kSteps>
POLYKEM_INLINE uint64_t take_every_step(uint64_t planes, size_t i) {
  return _pext_u64(planes, kEveryStep<kSteps> << i);
}
template <size_t kSteps>
POLYKEM_INLINE uint64_t put_every_step(uint64_t bits, size_t i) {
  return _pdep_u64(bits, kEveryStep<kSteps> << i);
}

/// Puts each of the lowest eight bits into a byte of its own.
POLYKEM_INLINE uint64_t spread_to_bytes(uint64_t bits) {
  constexpr uint64_t kEveryByte = ~uint64_t{0} / 255;
  return _pdep_u64(bits, kEveryByte);
}

#endif

/// Does what load_items does, for a single item. bytes: n + kSteps + 63 bytes of scratch.
template <class Field, class Steps>
POLYKEM_INLINE void load_single(uint16_t* state, const uint16_t* a, size_t n, uint8_t* bytes) {
  constexpr size_t kSteps = Steps::kSteps;
  std::memset(bytes, 0, n + kSteps + 63);
  for (size_t i = 0; i < n - 1; ++i)
    bytes[kSteps + i] = static_cast<uint8_t>(a[n - 2 - i]);
  for (size_t group = 0; 64 * group < n - 1 + kSteps; ++group) {
    uint64_t planes[2] = {bits_of_bytes<0>(bytes + 64 * group), 0};
    if constexpr (Field::kPlanes == 2) {
      planes[1] = bits_of_bytes<1>(bytes + 64 * group);
      planes[0] |= planes[1];
    }
    for (size_t k = 0; k < Field::kPlanes; ++k) {
      for (size_t i = 0; i < kSteps; ++i) {
        uint8_t* place = reinterpret_cast<uint8_t*>(state) + group_byte<Steps>(group, 1, k, i);
        uint64_t bits = 0;
        std::memcpy(&bits, place, kGroupBytes<kSteps>);
        bits |= take_every_step<kSteps>(planes[k], i);
        std::memcpy(place, &bits, kGroupBytes<kSteps>);
      }
    }
  }
}

/// Does what store_items does, for a single item. bytes: as for load_single.
template <class Field, class Steps>
POLYKEM_INLINE void store_single(uint16_t* inverse, const uint16_t* state, size_t n, uint8_t* bytes) {
  constexpr size_t kSteps = Steps::kSteps;
  const size_t lowest = 1 + Steps::excess(n);
  for (size_t group = 0; 64 * group < n - 1 + lowest; ++group) {
    uint64_t planes[2] = {0, 0};
    for (size_t k = 0; k < Field::kPlanes; ++k) {
      for (size_t i = 0; i < kSteps; ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, reinterpret_cast<const uint8_t*>(state) + group_byte<Steps>(group, 0, k, i),
                    kGroupBytes<kSteps>);
        planes[k] |= put_every_step<kSteps>(bits, i);
      }
    }
    planes[1] &= planes[0];
    for (size_t byte = 0; byte < 8; ++byte) {
      const uint64_t values = spread_to_bytes(planes[0] >> (8 * byte)) + spread_to_bytes(planes[1] >> (8 * byte));
      std::memcpy(bytes + 64 * group + 8 * byte, &values, 8);
    }
  }
  for (size_t i = 0; i < n - 1; ++i)
    inverse[i] = bytes[n - 2 - i + lowest];
  inverse[n - 1] = 0;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::polyinv
