// SPDX-License-Identifier: Apache-2.0
// The arithmetic of items and attempts, each by 16 lanes of a warp. The names are those of stages.hpp.
#pragma once

#include "schemes/mldsa/cuda/sample.cuh"
#include "schemes/mldsa/rounding.hpp"

namespace polykem::mldsa::cuda {

inline constexpr int kBlockItems = 4, kThreads = kBlockItems * kPolyLanes;

/// The shared memory of 16 lanes. Of the polynomials `polys`, each lane reads only its own rows again; they also serve
/// as exchange. 16 words more let the two halves of a warp lie in different banks.
template <int kPolys>
struct alignas(16) LaneMemory {
  uint32_t polys[kPolys][kExchangeWords], padding[16];
};

/// These return the index of a thread's item in the block, and the thread's index among the item's lanes.
__device__ __forceinline__ unsigned block_item() {
  return threadIdx.x / kPolyLanes;
}
__device__ __forceinline__ unsigned poly_lane() {
  return threadIdx.x % kPolyLanes;
}

/// Returns true if `predicate` holds for one of the item's 16 lanes.
__device__ __forceinline__ bool any_of_item(bool predicate) {
  return (__ballot_sync(0xffffffff, predicate) >> (warp_lane() & 16) & 0xffff) != 0;
}

/// These store and load the rows of a lane. A lane loads only rows that it stored itself.
__device__ __forceinline__ void store_rows(uint32_t* poly, const Coefficients& a, unsigned l) {
#pragma unroll
  for (unsigned c = 0; c < 4; ++c)
    reinterpret_cast<uint4*>(poly + polykem::cuda::kExchangeRow * l)[c] =
        make_uint4(a[4 * c], a[4 * c + 1], a[4 * c + 2], a[4 * c + 3]);
}
__device__ __forceinline__ void load_rows(Coefficients& a, const uint32_t* poly, unsigned l) {
#pragma unroll
  for (unsigned c = 0; c < 4; ++c) {
    const uint4 four = reinterpret_cast<const uint4*>(poly + polykem::cuda::kExchangeRow * l)[c];
    a[4 * c] = four.x, a[4 * c + 1] = four.y, a[4 * c + 2] = four.z, a[4 * c + 3] = four.w;
  }
}

/// Unpacks coefficients that are `top` less a field of kBits bits, and adds q: below 2q, in columns. [FIPS204, Alg 19]
template <int kBits>
__device__ __forceinline__ void unpack_below(Coefficients& a, const uint8_t* from, uint32_t top, unsigned l) {
#pragma unroll
  for (unsigned r = 0; r < kLaneCoefficients; ++r)
    a[r] = kModulus + top - packed_field<kBits>(from, l + kPolyLanes * r);
}

/// Loads the challenge and transforms it: in rows, below 17q.
__device__ __forceinline__ void load_challenge_poly(Coefficients& c, const uint32_t* challenge_poly, uint32_t* exchange,
                                                    unsigned l) {
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r) {
    const uint32_t code = challenge_poly[r] >> (2 * l) & 3;
    c[r] = code == 2 ? kModulus - 1 : code;
  }
  forward_transform(c, exchange, l);
}

/// Packs and stores w1, which is in columns, below 2^kBits. It uses 256 bytes of `exchange`. [FIPS204, Alg 28]
template <int kBits>
__device__ __forceinline__ void store_w1(uint8_t* out, const Coefficients& w1, uint32_t* exchange, unsigned l) {
  auto* const bytes = reinterpret_cast<uint8_t*>(exchange);
  __syncwarp();
#pragma unroll
  for (unsigned r = 0; r < kLaneCoefficients; ++r)
    bytes[l + kPolyLanes * r] = static_cast<uint8_t>(w1[r]);
  __syncwarp();
  Coefficients row;
  const uint4 four = reinterpret_cast<const uint4*>(bytes)[l];
  const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
  for (int i = 0; i < kLaneCoefficients; ++i)
    row[i] = words[i / 4] >> (8 * (i % 4)) & 255;
  uint32_t packed[kBits / 2];
  polykem::cuda::pack_fields<kBits>(packed, row);
#pragma unroll
  for (int w = 0; w < kBits / 2; ++w)
    reinterpret_cast<uint32_t*>(out)[kBits / 2 * l + w] = packed[w];
}

/// Copies mu in front of w1's bytes.
__device__ __forceinline__ void copy_mu(uint8_t* out, const ItemWords& mu, size_t item, unsigned l) {
  static_assert(kDigestWords == kPolyLanes);
  reinterpret_cast<uint32_t*>(out)[l] = mu.at(static_cast<int>(l), item);
}

/// Adds row `row` of the product of A^ and the transforms in `memory` to `sums`.
template <class Set, class Memory>
__device__ __forceinline__ void add_row(Sums& sums, const uint32_t* matrix, int row, const Memory& memory, unsigned l) {
#pragma unroll 2
  for (int j = 0; j < Shape<Set>::kL; ++j) {
    Coefficients a, y;
    load_row(a, matrix + (row * Shape<Set>::kL + j) * kN, l);
    load_rows(y, memory.polys[j], l);
    sums.add(a, y);
  }
}

// ---- keygen

/// Loads small coefficients plus q, in columns.
template <class Set>
__device__ __forceinline__ void load_small(Coefficients& a, const uint8_t* poly, unsigned l) {
#pragma unroll
  for (unsigned r = 0; r < kLaneCoefficients; ++r)
    a[r] = kModulus + Shape<Set>::kEta - poly[l + kPolyLanes * r];
}

/// Computes t, and writes everything of both keys but tr. [FIPS204, Alg 6, L5-10]
template <class Set>
__global__ void __launch_bounds__(kThreads) keygen_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ LaneMemory<S::kL + 1> memories[kBlockItems];
  auto& memory = memories[block_item()];
  const unsigned l = poly_lane();
  const size_t own = blockIdx.x * size_t{kBlockItems} + block_item(), item = min(own, work.count - 1);
  const bool valid = own < work.count;
  uint8_t* const pk = work.pk_out + item * S::kPublicKeyBytes;
  uint8_t* const sk = work.sk_out + item * S::kSecretKeyBytes;
  const uint8_t* const small = work.s + item * ((S::kL + S::kK) * kN);
  uint32_t* const exchange = memory.polys[S::kL];
  Coefficients a;
#pragma unroll 1
  for (int j = 0; j < S::kL + S::kK; ++j) {
    if (j < S::kL) {
      load_small<Set>(a, small + j * kN, l);
      forward_transform(a, memory.polys[j], l);
      store_rows(memory.polys[j], a, l);
    }
    const uint4 four = reinterpret_cast<const uint4*>(small + j * kN)[l];
    const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < kLaneCoefficients; ++i)
      a[i] = words[i / 4] >> (8 * (i % 4)) & 255;
    pack_to_shared<S::kEtaBits>(exchange, a, l);
    if (valid)
      polykem::cuda::store_from_shared<S::kEtaBytes, kPolyLanes>(sk + S::kS1Offset + j * S::kEtaBytes, exchange, l);
  }
#pragma unroll 1
  for (int row = 0; row < S::kK; ++row) {
    Sums sums;
    add_row<Set>(sums, work.matrix<Set>(item), row, memory, l);
    sums.reduce(a);
    inverse_transform(a, exchange, l);
    Coefficients s2;
    load_small<Set>(s2, small + (S::kL + row) * kN, l);
#pragma unroll
    for (int r = 0; r < kLaneCoefficients; ++r) {
      const HighLow split = power2_round(static_cast<int32_t>(reduced_once(reduced_once(a[r] + s2[r]))));
      a[r] = static_cast<uint32_t>(split.high) | static_cast<uint32_t>((1 << (kD - 1)) - split.low) << 16;
    }
    polykem::cuda::to_rows(a, exchange, l);
    Coefficients fields;
#pragma unroll
    for (int i = 0; i < kLaneCoefficients; ++i)
      fields[i] = a[i] & 0xffff;
    pack_to_shared<kT1Bits>(exchange, fields, l);
    if (valid)
      polykem::cuda::store_from_shared<S::kT1Bytes, kPolyLanes>(pk + kSeedBytes + row * S::kT1Bytes, exchange, l);
#pragma unroll
    for (int i = 0; i < kLaneCoefficients; ++i)
      fields[i] = a[i] >> 16;
    pack_to_shared<kD>(exchange, fields, l);
    if (valid)
      polykem::cuda::store_from_shared<S::kT0Bytes, kPolyLanes>(sk + S::kT0Offset + row * S::kT0Bytes, exchange, l);
  }
  if (!valid || l >= kSeedWords) return;
  const auto store = [l](uint8_t* to, const uint32_t word) {
#pragma unroll
    for (int b = 0; b < 4; ++b)
      to[4 * l + b] = static_cast<uint8_t>(word >> (8 * b));
  };
  store(pk, work.rho.at(static_cast<int>(l), item));
  store(sk, work.rho.at(static_cast<int>(l), item));
  store(sk + S::kKOffset, work.k.at(static_cast<int>(l), item));
}

// ---- sign

/// A word of w has the low part of a coefficient and, in the lowest kHighBits bits, its high part. commitment_index(i)
/// is the index of the word of coefficient i: coefficients 16 m + g and 16 m + g + 8, which a lane of Response reads,
/// are neighbours.
inline constexpr unsigned kHighBits = 6;
__device__ __forceinline__ unsigned commitment_index(unsigned i) {
  return i / 16 * 16 + i % 8 * 2 + i / 8 % 2;
}

/// Computes the parts of w from y of the attempt, and stores them, mu and w1's bytes.
/// [FIPS204, Alg 7, L12-15]
template <class Set, class Memory>
__device__ __forceinline__ void compute_commitment(Memory& memory, const Work& work, size_t attempt, size_t item,
                                                   unsigned l) {
  using S = Shape<Set>;
  uint32_t* const exchange = memory.polys[S::kL];
  Coefficients a;
#pragma unroll 1
  for (int j = 0; j < S::kL; ++j) {
    unpack_below<S::kZBits>(a, reinterpret_cast<const uint8_t*>(work.y + (attempt * S::kL + j) * S::kMaskWords),
                            S::kGamma1, l);
    forward_transform(a, memory.polys[j], l);
    store_rows(memory.polys[j], a, l);
  }
  uint8_t* const mu_w1 = work.mu_w1 + attempt * S::kMuW1Bytes;
  copy_mu(mu_w1, work.mu, item, l);
#pragma unroll 1
  for (int row = 0; row < S::kK; ++row) {
    Sums sums;
    add_row<Set>(sums, work.matrix<Set>(item), row, memory, l);
    sums.reduce(a);
    inverse_transform(a, exchange, l);
    int32_t* const w = work.w + (attempt * S::kK + row) * kN;
#pragma unroll
    for (unsigned r = 0; r < kLaneCoefficients; ++r) {
      const HighLow split = decompose<S::kParams.gamma2_part>(static_cast<int32_t>(a[r]));
      w[commitment_index(l + kPolyLanes * r)] = split.low * (1 << kHighBits) | split.high;
      a[r] = static_cast<uint32_t>(split.high);
    }
    store_w1<S::kW1Bits>(mu_w1 + kDigestBytes + row * S::kW1Bytes, a, exchange, l);
  }
}

template <class Set>
__global__ void __launch_bounds__(kThreads) commitment_kernel(Work work, uint32_t round) {
  __shared__ LaneMemory<Shape<Set>::kL + 1> memories[kBlockItems];
  const uint32_t count = work.unsigned_counts[round], first = blockIdx.x * kBlockItems;
  if (first >= count) return;
  const uint32_t attempt = min(first + block_item(), count - 1);  // lanes beyond repeat the last attempt
  compute_commitment<Set>(memories[block_item()], work, attempt, work.unsigned_items[round % 2][attempt], poly_lane());
}

// ---- verify

/// Unpacks the hint's bits. Returns false if its bytes are not what pack_hint() writes. All lanes of the warp call it.
/// [FIPS204, Alg 21]
template <class Set>
__device__ __forceinline__ bool unpack_hint(uint16_t (&hint)[Shape<Set>::kK][kPolyLanes], const uint8_t* in,
                                            unsigned l) {
  using S = Shape<Set>;
  bool malformed = false;
  if (l < S::kK) {
    for (unsigned r = 0; r < kPolyLanes; ++r)
      hint[l][r] = 0;
    const unsigned begin = l == 0 ? 0 : in[S::kOmega + l - 1], end = in[S::kOmega + l];
    malformed = end < begin || end > S::kOmega;
    for (unsigned i = begin; !malformed && i < end; ++i) {
      malformed = i > begin && in[i - 1] >= in[i];
      hint[l][in[i] / kPolyLanes] |= static_cast<uint16_t>(1u << in[i] % kPolyLanes);
    }
  }
  for (unsigned i = in [S::kOmega + S::kK - 1] + l; i < S::kOmega; i += kPolyLanes)
    malformed = malformed || in[i] != 0;
  __syncwarp();
  return !any_of_item(malformed);
}

/// Stores mu and the bytes of w1', and whether the signature is well-formed. [FIPS204, Alg 8, L1-10]
template <class Set>
__global__ void __launch_bounds__(kThreads) verify_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ LaneMemory<S::kL + 1> memories[kBlockItems];
  __shared__ uint16_t hints[kBlockItems][S::kK][kPolyLanes];
  auto& memory = memories[block_item()];
  auto& hint = hints[block_item()];
  const unsigned l = poly_lane();
  const size_t item = min(blockIdx.x * size_t{kBlockItems} + block_item(), work.count - 1);
  const uint8_t* const pk = work.pk[item];
  const uint8_t* const signature = work.signature[item];
  uint32_t* const exchange = memory.polys[S::kL];
  uint8_t* const mu_w1 = work.mu_w1 + item * S::kMuW1Bytes;
  Coefficients a, c;
  const bool well_formed = unpack_hint<Set>(hint, signature + S::kHintOffset, l);
  bool too_large = false;
#pragma unroll 1
  for (int j = 0; j < S::kL; ++j) {
    unpack_below<S::kZBits>(a, signature + S::kZOffset + j * 4 * S::kMaskWords, S::kGamma1, l);
#pragma unroll
    for (const uint32_t x : a)
      too_large |= abs(static_cast<int32_t>(x - kModulus)) >= S::kGamma1 - S::kBeta;
    forward_transform(a, memory.polys[j], l);
    store_rows(memory.polys[j], a, l);
  }
  const bool beyond = any_of_item(too_large);
  if (l == 0) work.valid[item] = well_formed && !beyond;
  copy_mu(mu_w1, work.mu, item, l);
  load_challenge_poly(c, work.challenge_poly + item * kChallengePolyWords, exchange, l);
#pragma unroll 1
  for (int row = 0; row < S::kK; ++row) {
#pragma unroll
    for (unsigned r = 0; r < kLaneCoefficients; ++r)
      a[r] = kModulus - (packed_field<kT1Bits>(pk + kSeedBytes + row * S::kT1Bytes, l + kPolyLanes * r) << kD);
    forward_transform(a, exchange, l);
    Sums sums;
    sums.add(a, c);
    add_row<Set>(sums, work.matrix<Set>(item), row, memory, l);
    sums.reduce(a);
    inverse_transform(a, exchange, l);
#pragma unroll
    for (int r = 0; r < kLaneCoefficients; ++r)
      a[r] = static_cast<uint32_t>(use_hint<S::kParams.gamma2_part>(static_cast<int32_t>(a[r]), hint[row][r] >> l & 1));
    store_w1<S::kW1Bits>(mu_w1 + kDigestBytes + row * S::kW1Bytes, a, exchange, l);
  }
}

}  // namespace polykem::mldsa::cuda
