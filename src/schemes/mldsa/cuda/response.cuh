// SPDX-License-Identifier: Apache-2.0
// The response of an attempt to its challenge: z, r0 and the hint, by one warp. The products of c with s1, s2 and t0
// are products of small integers: tensor cores compute them without a modulus, as the negacyclic matrix of c times
// columns of coefficients, eight polynomials at a time. [FIPS204, Alg 7, L16-28]
#pragma once

#include "prim/polymul/cuda/tensor_core.cuh"
#include "schemes/mldsa/cuda/arithmetic.cuh"

namespace polykem::mldsa::cuda {

inline constexpr int kTileRows = 16, kTileDepth = 32, kRowTiles = static_cast<int>(kN) / kTileRows,
                     kDepthTiles = static_cast<int>(kN) / kTileDepth;

/// The columns of one lane: its part of eight polynomials, as mma_16x8x32 takes it.
using Columns = uint32_t[kDepthTiles][2];

/// The matrix of c in shared memory. Byte x < 511 is coefficient 255 - x of c or, where that index is negative, minus
/// coefficient 511 - x, so that row i begins at byte 255 - i. There are four copies, copy s from byte s on, since rows
/// begin anywhere; the copies lie in different banks.
class ChallengeMatrix {
 public:
  static constexpr int kCopyWords = 136;
  using Memory = uint32_t[4][kCopyWords];

  /// Fills the memory from c. All lanes of the warp call it.
  __device__ __forceinline__ static void fill(Memory& memory, const uint32_t* challenge_poly) {
    const unsigned lane = warp_lane();
    auto* const bytes = reinterpret_cast<int8_t*>(memory[0]);
    __syncwarp();
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) {
      const unsigned t = 8 * lane + j, code = challenge_poly[t / 16] >> (t % 16 * 2) & 3;
      const auto value = static_cast<int8_t>((code & 1) - (code >> 1));
      bytes[255 - t] = value;
      bytes[511 - t] = static_cast<int8_t>(-value);
    }
    if (lane == 0) memory[0][128] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned w = lane; w < 128; w += 32) {
      const uint32_t low = memory[0][w], high = memory[0][w + 1];
#pragma unroll
      for (unsigned s = 1; s < 4; ++s)
        memory[s][w] = __funnelshift_r(low, high, 8 * s);
    }
    __syncwarp();
  }

  __device__ __forceinline__ explicit ChallengeMatrix(const Memory& memory) {
    const unsigned g = warp_lane() / 4, t = warp_lane() % 4, copy = (3 - g) & 3;
    words_ = memory[copy] + (255 - g - copy) / 4 + t;
  }

  /// Multiplies c by the columns in tiles of rows, and calls use(m, products, fetch(m)) for each tile m < 16. In lane 4
  /// g + t, element 2 h + p of products is that of row 16 m + g + 8 h of c and polynomial 2 t + p. A tile's rows
  /// are the rows of the tile before, two words on; they stay in registers, in a loop that fits the instruction cache.
  template <int kSets, class Fetch, class Use>
  __device__ __forceinline__ void multiply(const Columns (&columns)[kSets], Fetch fetch, Use use) const {
    constexpr int kAtOnce = 4, kNew = 2 * kAtOnce, kWindow = 4 * kDepthTiles - 2 + kNew;
    uint32_t window[kWindow];
    const auto load = [&](int m, int begin, int end) {
#pragma unroll
      for (int j = 0; j < kWindow; ++j)
        if (j >= begin && j < end) window[j] = words_[2 * j - 4 * (m + kAtOnce - 1) - 2];
    };
    load(0, kNew, kWindow);
#pragma unroll 1
    for (int first = 0; first < kRowTiles; first += kAtOnce) {
      load(first, 0, kNew);
      decltype(fetch(0)) fetched[kAtOnce];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u)
        fetched[u] = fetch(first + u);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        int products[kSets][4] = {};
#pragma unroll
        for (int k = 0; k < kDepthTiles; ++k) {
          const int at = 4 * k + 2 * (kAtOnce - 1 - u) + 1;
          const uint32_t rows[4] = {window[at], window[at - 1], window[at + 2], window[at + 1]};
#pragma unroll
          for (int set = 0; set < kSets; ++set)
            polykem::cuda::mma_16x8x32<true, true>(products[set], rows, columns[set][k]);
        }
        use(first + u, products, fetched[u]);
      }
#pragma unroll
      for (int j = kWindow - 1; j >= kNew; --j)
        window[j] = window[j - kNew];
    }
  }

 private:
  const uint32_t* words_;
};

/// Columns in shared memory: 64 words for each polynomial, and four more so that polynomials begin in different banks.
using ColumnMemory = uint32_t[8][kN / 4 + 4];

/// Fills the columns of kCount polynomials: store(poly, i) stores coefficients 4 i to 4 i + 3 as bytes.
template <int kCount, class Store>
__device__ __forceinline__ void fill_columns(Store store) {
  __syncwarp();
#pragma unroll 4
  for (unsigned at = warp_lane(); at < kCount * (kN / 4); at += 32)
    store(at / (kN / 4), at % (kN / 4));
  __syncwarp();
}

template <int kCount>
__device__ __forceinline__ void load_columns(Columns& columns, const ColumnMemory& memory) {
  const unsigned g = warp_lane() / 4, t = warp_lane() % 4;
#pragma unroll
  for (unsigned k = 0; k < kDepthTiles; ++k) {
    columns[k][0] = g < kCount ? memory[g][8 * k + t] : 0;
    columns[k][1] = g < kCount ? memory[g][8 * k + 4 + t] : 0;
  }
}

/// Returns four coefficients of s1 or s2 as bytes, eta less each packed field, or their negatives if kMinus.
template <class Set, bool kMinus>
__device__ __forceinline__ uint32_t small_bytes(const uint8_t* poly, unsigned i) {
  using S = Shape<Set>;
  constexpr uint32_t kEach = 0x01010101, kSigns = 0x80 * kEach;  // so that no byte borrows from the next
  const uint32_t x = packed_field<4 * S::kEtaBits>(poly, i), mask = (1u << S::kEtaBits) - 1;
  uint32_t fields = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b)
    fields |= (x >> (b * S::kEtaBits) & mask) << (8 * b);
  return (kMinus ? (fields | kSigns) - S::kEta * kEach : (kSigns | S::kEta * kEach) - fields) ^ kSigns;
}

/// Splits four coefficients of t0, 2^12 less each packed field, into the low seven bits and the upper ones with the
/// sign.
__device__ __forceinline__ void t0_bytes(uint32_t& low, uint32_t& high, const uint8_t* poly, unsigned i) {
  low = high = 0;
#pragma unroll
  for (unsigned b = 0; b < 4; ++b) {
    const uint32_t value = (1u << (kD - 1)) - packed_field<kD>(poly, 4 * i + b);
    low |= (value & 0x7f) << (8 * b);
    high |= (value >> 7 & 0xff) << (8 * b);
  }
}

/// The shared memory of a warp that responds to a challenge.
template <class Set>
struct ResponseMemory {
  static constexpr int kZStride = static_cast<int>(kN) + 4;  ///< lets the polynomials begin in different banks
  alignas(16) ChallengeMatrix::Memory matrix;
  alignas(16) uint32_t z[Shape<Set>::kL * kZStride];  ///< gamma1 less each coefficient, then packed
  union {
    ColumnMemory columns[2];
    uint8_t hint_of[Shape<Set>::kK][kN];  ///< 0 or 1 for each coefficient
  };
  uint32_t hint[Shape<Set>::kK][8];  ///< a bit for each coefficient
  uint8_t hint_bytes[Shape<Set>::kOmega + Shape<Set>::kK];
};

/// The response to the challenge of an attempt. All lanes of the warp call each member.
template <class Set>
class Response {
 public:
  __device__ __forceinline__ Response(ResponseMemory<Set>& memory, const Work& work, size_t attempt, size_t item)
      : memory_(memory),
        matrix_(memory.matrix),
        sk_(work.sk[item]),
        y_(reinterpret_cast<const uint8_t*>(work.y + attempt * S::kL * S::kMaskWords)),
        w_(reinterpret_cast<int2*>(work.w + attempt * S::kK * kN) + g_) {
    ChallengeMatrix::fill(memory.matrix, work.challenge_poly + attempt * kChallengePolyWords);
  }

  /// Returns true if the attempt is accepted; z and the hint are then in shared memory. That it fails, and at which
  /// check, is public.
  __device__ __forceinline__ bool accepted() { return subtract_c_s2() && add_c_s1() && find_hint(); }

 private:
  using S = Shape<Set>;
  static constexpr int kZStride = ResponseMemory<Set>::kZStride;

  /// The part of w, or of y, that a lane has in one tile: two coefficients each of two polynomials.
  struct Commitments {
    int2 of[2];
  };
  struct Masks {
    int of[2][2];
  };

  __device__ __forceinline__ int2& w(unsigned row, int m) const { return w_[row * (kN / 2) + 8 * m]; }
  __device__ __forceinline__ Commitments fetch_w(int m) const {
    Commitments both{};
#pragma unroll
    for (unsigned p = 0; p < 2; ++p)
      if (2 * t_ + p < S::kK) both.of[p] = w(2 * t_ + p, m);
    return both;
  }
  __device__ __forceinline__ Masks fetch_y(int m) const {
    Masks masks{};
#pragma unroll
    for (unsigned p = 0; p < 2; ++p) {
      if (2 * t_ + p >= S::kL) continue;
#pragma unroll
      for (unsigned half = 0; half < 2; ++half)
        masks.of[p][half] =
            static_cast<int>(packed_field<S::kZBits>(y_ + (2 * t_ + p) * 4 * S::kMaskWords, coefficient(m, half)));
    }
    return masks;
  }
  __device__ __forceinline__ unsigned coefficient(int m, unsigned half) const {
    return kTileRows * m + g_ + 8 * half;
  }

  /// Replaces the low part of w by r0. Returns true if r0 is small enough. [FIPS204, Alg 7, L19, L21, L23]
  __device__ __forceinline__ bool subtract_c_s2() {
    constexpr int kBound = S::kGamma2 - S::kBeta;
    fill_columns<S::kK>([&](unsigned poly, unsigned i) {
      memory_.columns[0][poly][i] = small_bytes<Set, true>(sk_ + S::kS2Offset + poly * S::kEtaBytes, i);
    });
    Columns s2[1];
    load_columns<S::kK>(s2[0], memory_.columns[0]);
    bool too_large = false;
    matrix_.multiply(
        s2, [&](int m) { return fetch_w(m); },
        [&](int m, const int(&products)[1][4], Commitments both) {
#pragma unroll
          for (unsigned p = 0; p < 2; ++p) {
            if (2 * t_ + p >= S::kK) continue;
            both.of[p].x += products[0][p] * (1 << kHighBits);
            both.of[p].y += products[0][2 + p] * (1 << kHighBits);
            too_large |= abs(both.of[p].x >> kHighBits) >= kBound || abs(both.of[p].y >> kHighBits) >= kBound;
            w(2 * t_ + p, m) = both.of[p];
          }
        });
    return !__any_sync(0xffffffff, too_large);
  }

  /// Computes z. Returns true if z is small enough. [FIPS204, Alg 7, L18, L20, L23]
  __device__ __forceinline__ bool add_c_s1() {
    constexpr int kBound = S::kGamma1 - S::kBeta;
    fill_columns<S::kL>([&](unsigned poly, unsigned i) {
      memory_.columns[0][poly][i] = small_bytes<Set, false>(sk_ + S::kS1Offset + poly * S::kEtaBytes, i);
    });
    Columns s1[1];
    load_columns<S::kL>(s1[0], memory_.columns[0]);
    bool too_large = false;
    matrix_.multiply(
        s1, [&](int m) { return fetch_y(m); },
        [&](int m, const int(&products)[1][4], const Masks& masks) {
#pragma unroll
          for (unsigned p = 0; p < 2; ++p) {
            if (2 * t_ + p >= S::kL) continue;
#pragma unroll
            for (unsigned half = 0; half < 2; ++half) {
              const int field = masks.of[p][half] - products[0][2 * half + p];
              too_large |= abs(S::kGamma1 - field) >= kBound;
              memory_.z[(2 * t_ + p) * kZStride + coefficient(m, half)] = static_cast<uint32_t>(field);
            }
          }
        });
    return !__any_sync(0xffffffff, too_large);
  }

  /// Computes the hint. Returns true if c t0 is small enough and the hint has few enough ones. [FIPS204, Alg 7, L25-28]
  __device__ __forceinline__ bool find_hint() {
    fill_columns<S::kK>([&](unsigned poly, unsigned i) {
      t0_bytes(memory_.columns[0][poly][i], memory_.columns[1][poly][i], sk_ + S::kT0Offset + poly * S::kT0Bytes, i);
    });
    Columns t0[2];
    load_columns<S::kK>(t0[0], memory_.columns[0]);
    load_columns<S::kK>(t0[1], memory_.columns[1]);
    __syncwarp();
    bool too_large = false;
    matrix_.multiply(
        t0, [&](int m) { return fetch_w(m); },
        [&](int m, const int(&products)[2][4], const Commitments& both) {
#pragma unroll
          for (unsigned p = 0; p < 2; ++p) {
            if (2 * t_ + p >= S::kK) continue;
#pragma unroll
            for (unsigned half = 0; half < 2; ++half) {
              const int word = half == 0 ? both.of[p].x : both.of[p].y;
              const int product = products[0][2 * half + p] + 128 * products[1][2 * half + p];
              too_large |= abs(product) >= S::kGamma2;
              memory_.hint_of[2 * t_ + p][coefficient(m, half)] = static_cast<uint8_t>(
                  make_hint<S::kParams.gamma2_part>(word & ((1 << kHighBits) - 1), (word >> kHighBits) + product));
            }
          }
        });
    __syncwarp();
    int ones = 0;
#pragma unroll 4
    for (unsigned word = 0; word < 8 * S::kK; ++word) {
      const uint32_t bits = __ballot_sync(0xffffffff, memory_.hint_of[word / 8][word % 8 * 32 + warp_lane()] != 0);
      ones += __popc(bits);
      memory_.hint[word / 8][word % 8] = bits;
    }
    return !__any_sync(0xffffffff, too_large) && ones <= S::kOmega;
  }

  const unsigned g_ = warp_lane() / 4, t_ = warp_lane() % 4;
  ResponseMemory<Set>& memory_;
  const ChallengeMatrix matrix_;
  const uint8_t *const sk_, *const y_;
  int2* const w_;
};

/// Packs the positions of the hint's ones, and how many there are up to the end of each row. [FIPS204, Alg 20]
template <class Set>
__device__ __forceinline__ void pack_hint(ResponseMemory<Set>& memory) {
  using S = Shape<Set>;
  const unsigned lane = warp_lane();
  for (unsigned b = lane; b < sizeof memory.hint_bytes; b += 32)
    memory.hint_bytes[b] = 0;
  __syncwarp();
  if (lane < S::kK) {
    unsigned index = 0;
    for (unsigned word = 0; word < 8 * lane; ++word)
      index += __popc(memory.hint[word / 8][word % 8]);
    for (unsigned word = 0; word < 8; ++word) {
      for (uint32_t bits = memory.hint[lane][word]; bits != 0; bits &= bits - 1)
        memory.hint_bytes[index++] = static_cast<uint8_t>(32 * word + __ffs(static_cast<int>(bits)) - 1);
    }
    memory.hint_bytes[S::kOmega + lane] = static_cast<uint8_t>(index);
  }
  __syncwarp();
}

/// Stores the signature of an accepted attempt. All lanes of the warp call it. [FIPS204, Alg 26]
template <class Set>
__device__ __forceinline__ void store_signature(ResponseMemory<Set>& memory, const Work& work, size_t attempt,
                                                size_t item) {
  using S = Shape<Set>;
  const unsigned lane = warp_lane(), l = lane % kPolyLanes;
  uint8_t* const out = work.signature_out + item * S::kSignatureBytes;
  pack_hint(memory);
  // The packed bytes of two polynomials never reach what is yet to be packed.
  static_assert(S::kMaskWords < ResponseMemory<Set>::kZStride);
#pragma unroll 1
  for (unsigned first = 0; first < S::kL; first += 2) {
    const unsigned j = min(first + lane / kPolyLanes, static_cast<unsigned>(S::kL) - 1);
    Coefficients fields;
#pragma unroll
    for (unsigned c = 0; c < 4; ++c) {
      const uint4 four = reinterpret_cast<const uint4*>(memory.z + j * ResponseMemory<Set>::kZStride)[4 * l + c];
      fields[4 * c] = four.x, fields[4 * c + 1] = four.y, fields[4 * c + 2] = four.z, fields[4 * c + 3] = four.w;
    }
    pack_to_shared<S::kZBits>(memory.z + j * S::kMaskWords, fields, l);
  }
  polykem::cuda::store_from_shared<4 * S::kChallengeWords>(out, work.challenge + attempt * kDigestWords, lane);
  polykem::cuda::store_from_shared<4 * S::kL * S::kMaskWords>(out + S::kZOffset, memory.z, lane);
  for (unsigned b = lane; b < sizeof memory.hint_bytes; b += 32)
    out[S::kHintOffset + b] = memory.hint_bytes[b];
}

/// Stores the signatures of the attempts that are accepted; the other items go on the next round's list. A block is one
/// warp, since attempts end at different times.
template <class Set>
__global__ void __launch_bounds__(32, 16) response_kernel(Work work, uint32_t round) {
  __shared__ ResponseMemory<Set> memory;
  const uint32_t attempt = blockIdx.x;
  if (attempt >= work.unsigned_counts[round]) return;
  const uint32_t item = work.unsigned_items[round % 2][attempt];
  if (Response<Set>(memory, work, attempt, item).accepted()) {
    store_signature<Set>(memory, work, attempt, item);
  } else if (warp_lane() == 0) {
    work.unsigned_items[(round + 1) % 2][atomicAdd(work.unsigned_counts + round + 1, 1u)] = item;
  }
}

}  // namespace polykem::mldsa::cuda
