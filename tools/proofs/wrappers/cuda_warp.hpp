// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp on a host, for proofs: tools/proofs/README.md. Lanes run one after the other, in several passes.
// What a lane gives in a pass, the others take in the next one, so that after a pass more than exchanges depend on each
// other, all have what they would have on the device. That holds for functions that write a word of shared memory only
// once, which is the caller's to see.
#pragma once

#include "tools/proofs/wrappers/cuda_host.hpp"

struct Index {
  unsigned x, y = 0, z = 0;
};
inline Index threadIdx, blockIdx, blockDim;
inline const Index gridDim = {1, 1, 1};

namespace polykem::host_warp {

inline constexpr unsigned kLanes = 32, kMostWords = 1 << 13;
inline uint32_t given[kMostWords][kLanes];  ///< the words that lanes exchange, in the order of the code
inline unsigned pass, passes, next;         ///< `next` is the number of the next word

/// Calls f(lane) for every lane, in so many passes. before() undoes what a pass has changed in place.
template <class F, class Before>
void as_warp(unsigned wanted, F f, Before before) {
  passes = wanted;
#pragma GCC unroll 1
  for (pass = 0; pass < passes; ++pass) {
    before();
#pragma GCC unroll 1
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      threadIdx.x = lane;
      next = 0;
      f(lane);
    }
  }
}
template <class F>
void as_warp(unsigned wanted, F f) {
  as_warp(wanted, f, [] {});
}

/// Gives a word to the other lanes, and returns the one of `source`.
inline uint32_t exchanged(uint32_t x, unsigned source) {
  const unsigned n = next++;
  given[n][threadIdx.x] = x;
  return pass == 0 ? x : given[n][source % kLanes];
}

}  // namespace polykem::host_warp

inline void __syncwarp() {}
template <class T>
T __shfl_sync(uint32_t, T x, unsigned source) {
  return static_cast<T>(polykem::host_warp::exchanged(static_cast<uint32_t>(x), source));
}
template <class T>
T __shfl_xor_sync(uint32_t, T x, unsigned distance) {
  return static_cast<T>(polykem::host_warp::exchanged(static_cast<uint32_t>(x), threadIdx.x ^ distance));
}
template <class T>
T __shfl_up_sync(uint32_t, T x, unsigned distance) {
  const unsigned lane = threadIdx.x, source = lane < distance ? lane : lane - distance;
  return static_cast<T>(polykem::host_warp::exchanged(static_cast<uint32_t>(x), source));
}
/// Sums of both halves, mod 2^16.
inline uint32_t __vadd2(uint32_t a, uint32_t b) {
  return (((a & 0xffff) + (b & 0xffff)) & 0xffff) | ((a >> 16) + (b >> 16)) << 16;
}

/// Differences of the four bytes, mod 2^8.
inline uint32_t __vsub4(uint32_t a, uint32_t b) {
  return ((a | 0x80808080) - (b & 0x7f7f7f7f)) ^ ((a ^ ~b) & 0x80808080);
}

/// Bits 32 to 63 of high : low after a shift by `shift` mod 32.
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}

// Names that headers need though nothing calls the functions that have them.
#define __constant__
#undef __shared__
#define __shared__
int __ffsll(long long);
inline size_t __cvta_generic_to_shared(const void* pointer) {
  return reinterpret_cast<size_t>(pointer);
}
uint32_t __ballot_sync(uint32_t, bool);
bool __any_sync(uint32_t, bool);
bool __all_sync(uint32_t, bool);
uint32_t atomicAdd(uint32_t*, uint32_t);
uint32_t atomicOr(uint32_t*, uint32_t);
void __syncthreads();
int __popc(uint32_t);
int __ffs(int);
using std::max;
using std::min;
struct int2 {
  int x, y;
};
