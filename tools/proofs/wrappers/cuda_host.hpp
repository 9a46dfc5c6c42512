// SPDX-License-Identifier: Apache-2.0
// CUDA's keywords and built-in functions for a host, so that arithmetic of device headers can be proved:
// tools/proofs/README.md. One lane runs; nothing here lets lanes meet.
#pragma once

// NVIDIA's compiler knows `#pragma unroll`, and does not warn of conversions.
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wsign-conversion"

#include <cstddef>

#include "tests/support/cuda_builtins.hpp"

#define __shared__ static

inline uint2 make_uint2(uint32_t x, uint32_t y) {
  return {x, y};
}
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  return {x, y, z, w};
}

/// min(a + b, c), mod 2^32 and then signed.
inline int32_t __viaddmin_s32(int32_t a, int32_t b, int32_t c) {
  return std::min(static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)), c);
}
inline int32_t __vimin3_s32(int32_t a, int32_t b, int32_t c) {
  return std::min({a, b, c});
}
inline int32_t __vimax3_s32(int32_t a, int32_t b, int32_t c) {
  return std::max({a, b, c});
}
/// c and the products of four bytes of a and b, signed.
inline int32_t __dp4a(int32_t a, int32_t b, int32_t c) {
  for (int i = 0; i < 32; i += 8)
    c += static_cast<int8_t>(a >> i) * static_cast<int8_t>(b >> i);
  return c;
}
/// Bits `shift` mod 32 and up of high : low.
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (shift & 31));
}
/// The upper word of high : low, shifted left by `shift`, but by no more than 32.
inline uint32_t __funnelshift_lc(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) << std::min(shift, 32u) >> 32);
}
/// The sum of products of the four bytes of a and b, and c. All are unsigned, mod 2^32.
inline uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 32; i += 8)
    c += (a >> i & 0xff) * (b >> i & 0xff);
  return c;
}
/// The sum of products of both halves of a and the two low bytes of b, and c. All are unsigned, mod 2^32.
inline uint32_t __dp2a_lo(uint32_t a, uint32_t b, uint32_t c) {
  return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
