// SPDX-License-Identifier: Apache-2.0
// Products by a CUDA core's multiply-adds, as Toeplitz matrix times vector: coefficient k is the sum over i of
// t(k - i) b[i]. A block computes a product, a thread kOutputs coefficients that are kTerms apart, with a window of t
// in registers: one word of t from shared memory serves kOutputs multiply-adds.
//
// A word holds kTerms elements of t, which an instruction multiplies by as many of b. Since k - i steps by one, there
// are kTerms copies of the reversed t, each shifted by one element.
#pragma once

#include "ring.cuh"

namespace polykem::lab {

/// A 32-bit multiply-add.
struct Imad {
  static constexpr int kTerms = 1, kLimbs = 1;
  using Element = int;
  __device__ static Element limb(int t, int) { return t; }
  /// Step `at` of four with b's words.
  using Factors = int4;
  __device__ static void add(int& sum, uint32_t t, const Factors& b, int at) {
    sum += static_cast<int>(t) * (at == 0 ? b.x : at == 1 ? b.y : at == 2 ? b.z : b.w);
  }
};

/// Two products of a word and a byte.
struct Dp2a {
  static constexpr int kTerms = 2, kLimbs = 1;
  using Element = int16_t;
  __device__ static Element limb(int t, int) { return static_cast<int16_t>(t); }
  using Factors = int2;
  __device__ static void add(int& sum, uint32_t t, const Factors& b, int at) {
    const int bytes = at < 2 ? b.x : b.y;
    sum = at % 2 == 0 ? __dp2a_lo(static_cast<int>(t), bytes, sum) : __dp2a_hi(static_cast<int>(t), bytes, sum);
  }
};

/// Four products of bytes, with words of t in one limb or two.
template <int kLimbCount>
struct Dp4a {
  static constexpr int kTerms = 4, kLimbs = kLimbCount;
  using Element = uint8_t;
  __device__ static Element limb(int t, int limb) { return static_cast<uint8_t>(t >> (8 * limb)); }
  using Factors = int4;
  __device__ static void add(int& sum, uint32_t t, const Factors& b, int at);
};

#ifdef __CUDACC__
/// Products of unsigned bytes by signed ones.
__device__ __forceinline__ int dp4a_mixed(uint32_t t, int b, int sum) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(t), "r"(b));
  return sum;
}
#endif

template <int kLimbCount>
__device__ __forceinline__ void Dp4a<kLimbCount>::add(int& sum, uint32_t t, const Factors& b, int at) {
  sum = dp4a_mixed(t, at == 0 ? b.x : at == 1 ? b.y : at == 2 ? b.z : b.w, sum);
}

/// The shape of one Toeplitz product of kSize outputs and as many terms.
template <int kSize, class MulUnit>
struct DotsShape {
  static constexpr int kTerms = MulUnit::kTerms;
  static constexpr int kOfResidue = (kSize + kTerms - 1) / kTerms;  ///< outputs with the same k mod kTerms
  /// Outputs of a thread, chosen to leave few lanes of a warp idle.
  static constexpr int lanes(int outputs) { return (kOfResidue + outputs - 1) / outputs; }
  static constexpr int padded_outputs(int outputs) { return (kTerms * lanes(outputs) + 31) / 32 * 32 * outputs; }
  static constexpr int kOutputs = padded_outputs(12) * 20 < padded_outputs(8) * 19 ? 12
                                  : padded_outputs(4) * 10 < padded_outputs(8) * 9 ? 4
                                                                                   : 8;
  static constexpr int kLanes = lanes(kOutputs);
  static constexpr int kThreads = kTerms * kLanes;
  static constexpr int kWindow = kOutputs + 4;
  /// Steps of kTerms terms; whole turns of the window.
  static constexpr int kSteps = (kOfResidue + kWindow - 1) / kWindow * kWindow;
  static constexpr int kZero = kLanes * kOutputs;  ///< the word with t(0) first, in copy 0
  static constexpr int kCopyWords = (kZero + kSteps + 3) / 4 * 4;
  static constexpr int kLimbWords = kTerms * kCopyWords;
  static constexpr int kWords = MulUnit::kLimbs * kLimbWords;  ///< words of all copies of t
  static constexpr int kElements = kTerms * kCopyWords;        ///< elements of the reversed t
  static constexpr int kFactorBytes = kSteps * 4 * static_cast<int>(sizeof(typename MulUnit::Factors)) / 16;
};

/// Words of the kTerms copies of one limb, from the reversed t: element x of `reversed` is t(kTerms kZero - x), and
/// four bytes before it can be read. Called by `threads` threads together.
template <class Shape, class Element>
__device__ __forceinline__ void shift_copies(uint32_t* copies, const Element* reversed, int thread, int threads) {
  const auto* words = reinterpret_cast<const uint32_t*>(reversed);
  for (int i = thread; i < Shape::kLimbWords; i += threads) {
    const int copy = i / Shape::kCopyWords, w = i % Shape::kCopyWords;
    copies[i] = __funnelshift_l(words[w - 1], words[w], copy * 8 * static_cast<int>(sizeof(Element)));
  }
}

/// The sums of one thread: output kTerms (lane kOutputs + j) + residue.
template <class Shape, class MulUnit>
__device__ __forceinline__ void add_dots(int (&sum)[MulUnit::kLimbs][Shape::kOutputs], const uint32_t* copies,
                                         const void* factors, int residue, int lane) {
  constexpr int kOutputs = Shape::kOutputs, kWindow = Shape::kWindow;
  const uint32_t* words = copies + residue * Shape::kCopyWords + Shape::kZero - lane * kOutputs;
  const auto* b = static_cast<const typename MulUnit::Factors*>(factors);
  uint32_t window[MulUnit::kLimbs][kWindow];
#pragma unroll
  for (int limb = 0; limb < MulUnit::kLimbs; ++limb) {
#pragma unroll
    for (int j = 0; j < kOutputs; ++j)  // word -kOutputs + j is at kWindow - kOutputs + j
      window[limb][4 + j] = words[limb * Shape::kLimbWords - kOutputs + j];
  }
#pragma unroll 1
  for (int first = 0; first < Shape::kSteps; first += kWindow) {
#pragma unroll
    for (int turn = 0; turn < kWindow; turn += 4) {
      const auto factor = b[(first + turn) / 4];
#pragma unroll
      for (int limb = 0; limb < MulUnit::kLimbs; ++limb) {
        const uint4 fresh = *reinterpret_cast<const uint4*>(words + limb * Shape::kLimbWords + first + turn);
        window[limb][turn] = fresh.x;
        window[limb][turn + 1] = fresh.y;
        window[limb][turn + 2] = fresh.z;
        window[limb][turn + 3] = fresh.w;
#pragma unroll
        for (int at = 0; at < 4; ++at) {
#pragma unroll
          for (int j = 0; j < kOutputs; ++j)
            MulUnit::add(sum[limb][j], window[limb][(turn + at - j + kWindow) % kWindow], factor, at);
        }
      }
    }
  }
}

/// Adds the sums of the limbs.
template <class Shape, class MulUnit>
__device__ __forceinline__ int joined(const int (&sum)[MulUnit::kLimbs][Shape::kOutputs], int j) {
  return MulUnit::kLimbs == 1 ? sum[0][j] : sum[0][j] + (sum[MulUnit::kLimbs - 1][j] << 8);
}

}  // namespace polykem::lab
