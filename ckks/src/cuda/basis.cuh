// SPDX-License-Identifier: Apache-2.0
// Kernels that convert residues to other primes; basis.hpp defines the conversion. Polynomials lie as
// [polynomial][row][N].
#pragma once

#include "ckks/src/cuda/basis.hpp"
#include "ckks/src/cuda/elementwise.cuh"

namespace polykem::ckks::cuda {

inline constexpr unsigned kMaxConversions = 4;  ///< conversions of one launch, which fit a kernel's parameters

/// Conversions between the rows of the same polynomials: each reads rows [in_first, ..) of the `in_rows` rows of a
/// polynomial and writes rows [out_first, ..) of `out_rows`.
template <class Word>
struct Conversions {
  const Word* in;
  Word* out;
  unsigned in_rows, out_rows, polynomials, count;
  unsigned in_first[kMaxConversions], out_first[kMaxConversions];
  Conversion<Word> conversion[kMaxConversions];

  /// Return the source and target rows of one conversion of one polynomial, from point i on.
  __device__ __forceinline__ const Word* from(unsigned number, unsigned polynomial, unsigned i, int log_n) const {
    return in + ((size_t{polynomial} * in_rows + in_first[number]) << log_n) + i;
  }
  __device__ __forceinline__ Word* to(unsigned number, unsigned polynomial, unsigned i, int log_n) const {
    return out + ((size_t{polynomial} * out_rows + out_first[number]) << log_n) + i;
  }
};

/// The part of the conversions that a block computes: 2^log_block_points points of one polynomial.
struct ConversionPlace {
  unsigned number, polynomial, first;
  template <class Word>
  __device__ __forceinline__ ConversionPlace(const Conversions<Word>& job, int log_n, int log_block_points) {
    const int log_blocks = log_n - log_block_points;
    const unsigned all = blockIdx.x >> log_blocks;
    number = all / job.polynomials;
    polynomial = all % job.polynomials;
    first = (blockIdx.x & ((1u << log_blocks) - 1)) << log_block_points;
  }
};

inline constexpr int kLogConvertThreads = 7, kConvertThreads = 1 << kLogConvertThreads;

/// Converts on the integer units: a block converts 128 points, a thread all targets of one. y: the residues times
/// hat_inverse, in [0, q) of their source primes, in shared memory. out: in [0, q) of the target primes.
__device__ __forceinline__ void convert_group(uint32_t (&out)[kTargetGroup], const uint32_t* y, unsigned sources,
                                              const uint32_t* matrix, const uint32_t (&q)[kTargetGroup],
                                              const Prime<uint32_t>* const (&primes)[kTargetGroup]) {
  MontgomerySum sums[kTargetGroup];
  for (unsigned i = 0; i < sources; i += 2) {  // an odd one is followed by zeros
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const bool there = i + k < sources;
      const auto* row = reinterpret_cast<const uint4*>(matrix + (there ? i + k : i) * kTargetGroup);
      const uint32_t source = there ? y[(i + k) * kConvertThreads] : 0;
      const uint4 low = __ldg(row), high = __ldg(row + 1);
      const uint32_t entry[kTargetGroup] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (unsigned l = 0; l < kTargetGroup; ++l)
        sums[l].add(source, entry[l]);
    }
#pragma unroll
    for (unsigned l = 0; l < kTargetGroup; ++l)
      sums[l].fold(q[l]);
  }
#pragma unroll
  for (unsigned l = 0; l < kTargetGroup; ++l)
    out[l] = montgomery_reduce(uint64_t{sums[l].high} << 32 | sums[l].low, *primes[l]);
}

__device__ __forceinline__ void convert_group(uint64_t (&out)[kTargetGroup], const uint64_t* y, unsigned sources,
                                              const uint64_t* matrix, const uint64_t (&)[kTargetGroup],
                                              const Prime<uint64_t>* const (&primes)[kTargetGroup]) {
  ProductSum<uint64_t> sums[kTargetGroup];
  for (unsigned i = 0; i < sources; ++i) {
    const uint64_t source = y[i * kConvertThreads];
#pragma unroll
    for (unsigned l = 0; l < kTargetGroup; ++l)
      sums[l].add(source, __ldg(matrix + i * kTargetGroup + l));
  }
#pragma unroll
  for (unsigned l = 0; l < kTargetGroup; ++l)
    out[l] = sums[l].reduced(*primes[l]);
}

/// Converts on the integer units. In: words in [0, q) of the source primes. Out: in [0, q) of the target primes.
template <class Word>
__global__ void __launch_bounds__(kConvertThreads)
    convert_kernel(const Conversions<Word> job, const Tables<Word> tables) {
  after_previous_kernel();
  const ConversionPlace place(job, tables.log_n, kLogConvertThreads);
  const unsigned i = place.first + threadIdx.x;
  const Conversion<Word>& conversion = job.conversion[place.number];
  Word* y = dynamic_shared<Word>() + threadIdx.x;
  const Word* in = job.from(place.number, place.polynomial, i, tables.log_n);
  for (unsigned s = 0; s < conversion.sources; ++s)
    y[s * kConvertThreads] =
        multiply(in[size_t{s} << tables.log_n], conversion.hat_inverse[s], tables.primes[conversion.source_prime[s]].q);
  Word* out = job.to(place.number, place.polynomial, i, tables.log_n);
  for (unsigned group = 0; group < conversion.targets.count; group += kTargetGroup) {
    const Prime<Word>* primes[kTargetGroup];
    Word q[kTargetGroup], result[kTargetGroup];
    bool wanted[kTargetGroup], any = false;
#pragma unroll
    for (unsigned l = 0; l < kTargetGroup; ++l) {
      const unsigned prime = group + l < conversion.targets.count ? conversion.targets.prime[group + l] : 0xff;
      wanted[l] = prime != RowMap::kSkip;
      any = any || wanted[l];
      primes[l] = tables.primes + (wanted[l] ? prime : 0);
      q[l] = primes[l]->q;
    }
    if (!any) continue;
    convert_group(result, y, conversion.sources, conversion.matrix + group * conversion.sources, q, primes);
#pragma unroll
    for (unsigned l = 0; l < kTargetGroup; ++l) {
      if (wanted[l]) out[size_t{group + l} << tables.log_n] = result[l];
    }
  }
}

/// Returns the value of four sums of products of bytes, the lowest first, times 2^-32 mod q. Each sum is of at most 2^8
/// products, so that `low` and `high` have 32 bits, and the value is below 2^32 q.
__device__ __forceinline__ uint32_t join_bytes(int s0, int s1, int s2, int s3, const Prime<uint32_t>& prime) {
  const uint32_t low = static_cast<uint32_t>(s0) + (static_cast<uint32_t>(s1) << 8);
  const uint32_t high = static_cast<uint32_t>(s2) + (static_cast<uint32_t>(s3) << 8);
  return montgomery_reduce(uint64_t{high} * 65536 + low, prime);
}

inline constexpr int kConvertWarps = 8, kLogImmaPoints = 8;

/// Converts on tensor cores, from at most 8 kSteps sources. A warp converts 32 points, of which four neighbours are a
/// column of products 0 .. 3. Columns 0, 2, 4, 6 are the first 16 points and the odd ones the others, so that a warp
/// stores whole sectors. Lane 4 g + t has the sources t, t + 4, .. of column g; since a word is the four bytes of a
/// column of the product, residues are operands as they are. The lane gets target g of a group at the columns 2 t and
/// 2 t + 1. In: words in [0, q) of the source primes. Out: in [0, q) of the target primes.
template <int kSteps>
__global__ void __launch_bounds__(kConvertWarps* kWarp)
    convert_imma_kernel(const Conversions<uint32_t> job, const Tables<uint32_t> tables) {
  after_previous_kernel();
  const ConversionPlace place(job, tables.log_n, kLogImmaPoints);
  const Conversion<uint32_t>& conversion = job.conversion[place.number];
  const unsigned lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
  const unsigned first = place.first + threadIdx.x / kWarp * 32;
  const uint32_t* in = job.from(place.number, place.polynomial, first + 16 * (g % 2) + 4 * (g / 2), tables.log_n);
  uint32_t y[4][kSteps][2];
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned source = 8 * step + 4 * half + t;
      const bool there = source < conversion.sources;
      const unsigned s = there ? source : 0;
      const Vector<uint32_t> x = load_vector(in + (size_t{s} << tables.log_n));
      const Factor<uint32_t> factor = conversion.hat_inverse[s];
      const uint32_t q = tables.primes[conversion.source_prime[s]].q;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        y[j][step][half] = there ? multiply(x.at[j], factor, q) : 0;
    }
  }
  uint32_t* out = job.to(place.number, place.polynomial, first + 4 * t, tables.log_n);
  const auto* fragments = reinterpret_cast<const uint4*>(conversion.fragments) + lane;
#pragma unroll 1
  for (unsigned group = 0; group < conversion.targets.count; group += kTargetGroup) {
    int sums[4][2][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int tile = 0; tile < 2; ++tile, fragments += kWarp) {
        const uint4 loaded = __ldg(fragments);
        const uint32_t a[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (int j = 0; j < 4; ++j)
          mma_bytes(sums[j][tile], a, y[j][step]);
      }
    }
    const unsigned target = group + g;
    const unsigned number = target < conversion.targets.count ? conversion.targets.prime[target] : 0xff;
    if (number != RowMap::kSkip) {
      const Prime<uint32_t> prime = tables.primes[number];
#pragma unroll
      for (int c = 0; c < 2; ++c)
        store_vector(out + (size_t{target} << tables.log_n) + 16 * c, make_vector<uint32_t>([&](int j) {
                       return join_bytes(sums[j][0][c], sums[j][0][2 + c], sums[j][1][c], sums[j][1][2 + c], prime);
                     }));
    }
    __syncwarp();
  }
}

}  // namespace polykem::ckks::cuda
