// SPDX-License-Identifier: Apache-2.0
// Inverses of the few polynomials at the top of a tree. They are too few to fill a device, so latency matters: one warp
// computes an inverse in one kernel, from the row it reads to the row it writes.
#pragma once

#include "prim/polymul/cuda/imma.cuh"
#include "schemes/ntru/cuda/groups.cuh"
#include "schemes/ntru/cuda/kernels.cuh"
#include "schemes/ntru/polyinv/cuda/polyinv.cuh"

namespace polykem::ntru::cuda {

/// Writes zeros from coefficient n - 1 on.
template <class Set>
__device__ __forceinline__ void clear_row_end(uint8_t* row, unsigned lane) {
  using S = Shape<Set>;
  static_assert(S::kRow - (S::kN - 1) <= 32);
  if (S::kN - 1 + lane < S::kRow) row[S::kN - 1 + lane] = 0;
}

/// Computes poly_S3_inv: writes 1/f as bytes 0, 1, 2. f: bytes 0, 1 and 2 or 255.
template <class Set>
__global__ void __launch_bounds__(kThreads) invert_mod3_kernel(uint8_t* inverse, const uint8_t* f, size_t count) {
  using S = Shape<Set>;
  __shared__ uint32_t words[kWarps][polykem::cuda::DivstepShape<S::kN>::kStringWords];
  const unsigned lane = warp_lane();
  const size_t item = warp_item();
  if (item >= count) return;
  const uint8_t* from = f + item * S::kRow;
  uint8_t* to = inverse + item * S::kRow;
  polykem::cuda::invert_mod3<S::kN>(
      words[threadIdx.x / 32], lane, [from](int i) { return (from[i] & 3) != 0; },
      [from](int i) { return (from[i] & 2) != 0; }, [to](int i, uint32_t trit) { to[i] = static_cast<uint8_t>(trit); });
  clear_row_end<Set>(to, lane);
}

inline constexpr int kByteWarps = 2;  ///< warps per block of invert_bytes_kernel, whose warps need much shared memory

/// Computes v = 1/x mod 2^8: mod 2 by division steps, then by three of Newton's steps v <- v (2 - x v), each of which
/// doubles the number of correct bits. [NTRU20, S2_inverse, Rq_inverse]
template <class Set>
__global__ void __launch_bounds__(32 * kByteWarps) invert_bytes_kernel(uint8_t* v, const uint8_t* x, size_t count) {
  using S = Shape<Set>;
  using Product = polykem::cuda::ImmaProduct<S::kN, polykem::cuda::MulKind::kBytes>;
  __shared__ alignas(128) uint8_t operands[kByteWarps][Product::Shape::kShared];
  __shared__ alignas(16) uint8_t rows[kByteWarps][S::kRow];
  __shared__ uint32_t words[kByteWarps][polykem::cuda::DivstepShape<S::kN>::kStringWords];
  const unsigned lane = warp_lane(), warp = threadIdx.x / 32;
  const size_t item = blockIdx.x * size_t{kByteWarps} + warp;
  if (item >= count) return;
  const uint8_t* from = x + item * S::kRow;
  uint8_t* row = rows[warp];
  const uint32_t last = from[S::kN - 1];
  polykem::cuda::invert_mod2<S::kN>(
      words[warp], lane, [from, last](int i) { return ((from[i] ^ last) & 1) != 0; },
      [row](int i, uint32_t bit) { row[i] = static_cast<uint8_t>(bit); });
  clear_row_end<Set>(row, lane);
  Product product(operands[warp]);
  const auto multiply = [&product, row](auto change) {
    __syncwarp();
    product.multiply();
    product.for_each_byte_pair([&](unsigned w, uint16_t bytes) {
      reinterpret_cast<uint16_t*>(row)[w] = static_cast<uint16_t>(change(w, bytes));
    });
    __syncwarp();
  };
  ByteGroups<Set> factor, inverse;
  load_bytes<Set>(factor, from, lane);
  __syncwarp();
#pragma unroll 1
  for (int bits = 1; bits < 8; bits *= 2) {
    load_bytes<Set>(inverse, row, lane);
    product.store_plain_bytes(factor);
    product.store_reversed_bytes(inverse);
    multiply([](unsigned w, uint32_t bytes) { return __vsub4(w == 0 ? 2u : 0u, bytes); });
    ByteGroups<Set> correction;
    load_bytes<Set>(correction, row, lane);
    product.store_plain_bytes(correction);
    multiply([](unsigned, uint32_t bytes) { return bytes; });
  }
  for (int w = static_cast<int>(lane); w < S::kRow / 4; w += 32)
    reinterpret_cast<uint32_t*>(v + item * S::kRow)[w] = reinterpret_cast<const uint32_t*>(row)[w];
}

}  // namespace polykem::ntru::cuda
