// SPDX-License-Identifier: Apache-2.0
// CUDA's keywords, vectors and built-in functions for a CPU, as its programming guide and the PTX manual define them:
// those that both CKKS's kernels on a CPU (ckks/tests/host_shim) and proofs about device headers (tools/proofs) use.
#pragma once

#include <algorithm>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};

inline uint32_t __umulhi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
  __extension__ using uint128 = unsigned __int128;
  return static_cast<uint64_t>(uint128{a} * b >> 64);
}
/// min(a + b, c), unsigned.
inline uint32_t __viaddmin_u32(uint32_t a, uint32_t b, uint32_t c) {
  return std::min(a + b, c);
}
/// Byte i of the result is the byte of y : x that digit i of the selector names; with 8 added, the sign of that byte.
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
  const uint64_t bytes = uint64_t{y} << 32 | x;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t digit = selector >> (4 * i), byte = static_cast<uint32_t>(bytes >> (8 * (digit & 7))) & 0xff;
    result |= ((digit & 8) != 0 ? (0u - (byte >> 7)) & 0xff : byte) << (8 * i);
  }
  return result;
}
template <class T>
T __ldg(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldcg(const T* pointer) {
  return *pointer;
}
template <class T>
void __stcg(T* pointer, T value) {
  *pointer = value;
}
