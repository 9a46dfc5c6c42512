// SPDX-License-Identifier: Apache-2.0
// The functions that lanes/single_records.hpp needs for NEON. They move packed coefficients to lanes and back.
#pragma once

#include <cstring>

#include "prim/ntt/lanes/products.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

template <class T, size_t kCount>
struct Table {
  alignas(16) T at[kCount] = {};
};

/// The shuffle that gathers the first two bytes of each of eight coefficients.
template <unsigned kBits>
inline constexpr auto kFirstBytes = [] {
  Table<uint8_t, 16> table;
  for (unsigned i = 0; i < 16; ++i)
    table.at[i] = static_cast<uint8_t>(i / 2 * kBits / 8 + i % 2);
  return table;
}();
/// The shuffle that gathers the third byte of each of eight coefficients, if it has one.
template <unsigned kBits>
inline constexpr auto kThirdBytes = [] {
  Table<uint8_t, 16> table;
  for (unsigned i = 0; i < 16; ++i)
    table.at[i] = static_cast<uint8_t>(i % 2 == 0 && i / 2 * kBits % 8 + kBits > 16 ? i / 2 * kBits / 8 + 2 : 0x80);
  return table;
}();
/// The shifts that move the first two bytes into place: to the right by the bits before the coefficient.
template <unsigned kBits>
inline constexpr auto kFirstShifts = [] {
  Table<int16_t, 8> table;
  for (unsigned i = 0; i < 8; ++i)
    table.at[i] = static_cast<int16_t>(-static_cast<int>(i * kBits % 8));
  return table;
}();
/// The shifts that move the third byte into place, to the left.
template <unsigned kBits>
inline constexpr auto kThirdShifts = [] {
  Table<int16_t, 8> table;
  for (unsigned i = 0; i < 8; ++i)
    table.at[i] = static_cast<int16_t>(16 - i * kBits % 8);
  return table;
}();

/// Returns coefficients i to i + 7.
template <unsigned kBits>
POLYKEM_INLINE uint16x8_t unpack_eight(const uint8_t* row, size_t i) {
  const uint8_t* at = row + i / 8 * kBits;
  uint8x16_t bytes;
  if (sixteen_bytes_inside<kBits>(i)) {
    bytes = vld1q_u8(at);
  } else {
    uint8_t last[16] = {};
    std::memcpy(last, at, kBits);
    bytes = vld1q_u8(last);
  }
  const auto picked = [&](const Table<uint8_t, 16>& index, const Table<int16_t, 8>& shifts)
      __attribute__((always_inline)) {
    return vshlq_u16(vreinterpretq_u16_u8(vqtbl1q_u8(bytes, vld1q_u8(index.at))), vld1q_s16(shifts.at));
  };
  const uint16x8_t words =
      picked(kFirstBytes<kBits>, kFirstShifts<kBits>) | picked(kThirdBytes<kBits>, kThirdShifts<kBits>);
  return words & vdupq_n_u16((1u << kBits) - 1);
}

/// Returns coefficients i to i + V16::kLanes - 1 of a row of kPackedBytes<kBits> bytes; i is a multiple of V16::kLanes.
template <unsigned kBits>
POLYKEM_INLINE V16 unpack_single(const uint8_t* row, size_t i) {
  return {{unpack_eight<kBits>(row, i), unpack_eight<kBits>(row, i + 8)}};
}

/// The shuffle of the two halves of eight packed coefficients that gathers the bytes that are used.
template <unsigned kBits>
inline constexpr auto kUsedBytes = [] {
  Table<uint8_t, 16> table;
  for (unsigned at = 0; at < 16; ++at)
    table.at[at] = static_cast<uint8_t>(at >= kBits                        ? 0x80
                                        : kBits % 2 == 1 || at < kBits / 2 ? at
                                                                           : at - kBits / 2 + 8);
  return table;
}();

template <unsigned kBits>
POLYKEM_INLINE void pack_eight(uint8_t* row, size_t i, uint16x8_t x) {
  // Coefficients side by side: two in 32 bits, four in 64.
  const uint32x4_t words = vreinterpretq_u32_u16(x);
  const uint32x4_t pairs = (words & vdupq_n_u32(0xffff)) | (words >> 16 << kBits);
  const uint64x2_t wide = vreinterpretq_u64_u32(pairs);
  uint64x2_t fours = (wide & vdupq_n_u64(0xffffffff)) | (wide >> 32 << (2 * kBits));
  if constexpr (kBits % 2 == 1) {
    const uint64_t low = vgetq_lane_u64(fours, 0), high = vgetq_lane_u64(fours, 1);
    constexpr unsigned kHalf = 4 * kBits;
    fours = vcombine_u64(vcreate_u64(low | high << kHalf), vcreate_u64(high >> (64 - kHalf)));
  }
  const uint8x16_t bytes = vqtbl1q_u8(vreinterpretq_u8_u64(fours), vld1q_u8(kUsedBytes<kBits>.at));
  uint8_t* at = row + i / 8 * kBits;
  if (sixteen_bytes_inside<kBits>(i)) return vst1q_u8(at, bytes);
  uint8_t last[16];
  vst1q_u8(last, bytes);
  std::memcpy(at, last, kBits);
}

/// Stores coefficients i to i + V16::kLanes - 1, below 2^kBits, in a row of kPackedBytes<kBits> bytes. Call it for
/// ascending i: it overwrites bytes of later ones.
template <unsigned kBits>
POLYKEM_INLINE void pack_single(uint8_t* row, size_t i, V16 x) {
  pack_eight<kBits>(row, i, x.r.low);
  pack_eight<kBits>(row, i + 8, x.r.high);
}

inline constexpr Table<uint16_t, 8> kLaneBits = {{1, 2, 4, 8, 16, 32, 64, 128}};

/// Returns coefficients i to i + V16::kLanes - 1: 1665 where the message has a 1, else 0. `message` has 32 bytes.
/// [FIPS203, Alg 14, L20]
POLYKEM_INLINE V16 message_single(const uint8_t* message, size_t i) {
  const auto eight = [&](uint8_t bits) __attribute__((always_inline)) {
    return vtstq_u16(vdupq_n_u16(bits), vld1q_u16(kLaneBits.at)) & vdupq_n_u16((kQ + 1) / 2);
  };
  return {{eight(message[i / 8]), eight(message[i / 8 + 1])}};
}

/// Stores the lowest bits of coefficients i to i + V16::kLanes - 1.
POLYKEM_INLINE void store_bits_single(uint8_t* message, size_t i, V16 x) {
  const auto eight = [](uint16x8_t words) __attribute__((always_inline)) {
    return static_cast<uint8_t>(vaddvq_u16((words & vdupq_n_u16(1)) * vld1q_u16(kLaneBits.at)));
  };
  message[i / 8] = eight(x.r.low);
  message[i / 8 + 1] = eight(x.r.high);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
