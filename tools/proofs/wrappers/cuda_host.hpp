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

/// Bits `shift` mod 32 and up of high : low.
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (shift & 31));
}
