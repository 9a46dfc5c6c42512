// SPDX-License-Identifier: Apache-2.0
// Variants of the one-pass transform of 32-bit words, to be compared on a GPU.
#pragma once

#include "ckks/cuda/kernels.hpp"
#include "ckks/cuda/launch.hpp"
#include "ckks/cuda/ntt_shared.cuh"

namespace polykem::ckks::lab {

using namespace polykem::ckks::cuda;
using W = uint32_t;

enum Last { kTree, kTwist, kGenerate, kUniform };
enum Ablate { kNone = 0, kLocal = 1, kNoLoad = 2, kNoStore = 4, kNoTail = 8, kStream = 16, kEarly = 32 };

#ifdef __CUDACC__
__device__ __forceinline__ W load_once(const W* x) {
  return __ldcs(x);
}
__device__ __forceinline__ void store_last(W* x, Vector<W> v) {
  __stcs(reinterpret_cast<uint4*>(x), uint4{v.at[0], v.at[1], v.at[2], v.at[3]});
}
__device__ __forceinline__ void store_last(W* x, W v) {
  __stcs(x, v);
}
__device__ __forceinline__ Vector<W> load_once_vector(const W* x) {
  const uint4 v = __ldcs(reinterpret_cast<const uint4*>(x));
  return {{v.x, v.y, v.z, v.w}};
}
#else
inline W load_once(const W* x) {
  return *x;
}
inline void store_last(W* x, W v) {
  *x = v;
}
inline void store_last(W* x, Vector<W> v) {
  store_vector(x, v);
}
inline Vector<W> load_once_vector(const W* x) {
  return load_vector(x);
}
#endif

struct LabTables {
  Tables<W> base;
  const W* twist[2];           ///< [prime][power 0 .. 31][group], t^power 2^32 mod q
  const Factor<W>* cyclic[2];  ///< [prime][16]
};

__device__ __forceinline__ W montgomery_multiply(W a, W b, W q, W inverse) {
  const uint64_t product = uint64_t{a} * b;
  const W m = static_cast<W>(product) * inverse;
  const W difference = static_cast<W>(product >> 32) - __umulhi(m, q);
  return __viaddmin_u32(difference, q, difference);
}

struct CyclicFactors {
  const Factor<W>* table;
  __device__ __forceinline__ Factor<W> operator()(int, int m) const { return load_factor(table + m); }
};

/// A layer of the cyclic transform of 32 points; the group 0 has the factor 1.
template <int kDepth, bool kInverse>
__device__ __forceinline__ void cyclic_layer(W (&x)[32], const Factor<W>* factors, W q) {
  constexpr int kHalf = 16 >> kDepth;
#pragma unroll
  for (int j = 0; j < kHalf; ++j) {
    W &a = x[j], &b = x[j + kHalf];
    if constexpr (kInverse) {
      const W difference = a - b + q;
      a = subtract_once(a + b, q);
      b = subtract_once(difference, q);
    } else {
      const W u = kDepth == 0 ? a : subtract_once(a, q), v = kDepth == 0 ? b : subtract_once(b, q);
      a = u + v;
      b = u - v + q;
    }
  }
#pragma unroll
  for (int m = 1; m < 1 << kDepth; ++m) {
    const Factor<W> w = load_factor(factors + m);
#pragma unroll
    for (int j = 0; j < kHalf; ++j) {
      if constexpr (kInverse)
        inverse_butterfly(x[2 * m * kHalf + j], x[(2 * m + 1) * kHalf + j], w, q);
      else
        butterfly(x[2 * m * kHalf + j], x[(2 * m + 1) * kHalf + j], w, q);
    }
  }
}

__device__ __forceinline__ void twist_early(W (&x)[32], const W (&twist)[32], W q, W inverse) {
  x[0] = subtract_once(x[0], q);
#pragma unroll
  for (int j = 1; j < 32; ++j)
    x[j] = montgomery_multiply(x[j], twist[j], q, inverse);
}

template <int kLast>
__device__ __forceinline__ void twist_points(W (&x)[32], const W* twist, unsigned groups, W q, W inverse) {
  x[0] = subtract_once(x[0], q);
  if constexpr (kLast == kTwist) {
#pragma unroll
    for (int j = 1; j < 32; ++j)
      x[j] = montgomery_multiply(x[j], __ldg(twist + j * groups), q, inverse);
  } else {
    W low[4];
#pragma unroll
    for (int j = 1; j < 4; ++j) {
      low[j] = __ldg(twist + j * groups);
      x[j] = montgomery_multiply(x[j], low[j], q, inverse);
    }
#pragma unroll
    for (int k = 4; k < 32; k += 4) {
      const W high = __ldg(twist + k * groups);
      x[k] = montgomery_multiply(x[k], high, q, inverse);
#pragma unroll
      for (int j = 1; j < 4; ++j)
        x[k + j] = montgomery_multiply(x[k + j], montgomery_multiply(high, low[j], q, inverse), q, inverse);
    }
  }
}

struct UniformFactors {
  Factor<W> w;
  __device__ __forceinline__ Factor<W> operator()(int depth, int m) const { return {w.value + depth, w.quotient + m}; }
};

template <int kLogN, int kCluster, int kFirst, int kSmThreads, int kLast, int kAblate>
struct LabNtt {
  static constexpr int kN = 1 << kLogN, kPoints = kN / kCluster, kRadix = 1 << kFirst;
  static constexpr int kThreadPoints = kRadix > 32 ? kRadix : 32, kThreads = kPoints / kThreadPoints;
  static constexpr int kMinBlocks = kSmThreads / kThreads;
  static constexpr int kMiddle = kLogN - 5 - kFirst, kStride = kN / kRadix, kOfBlock = kRadix / kCluster;
  static constexpr unsigned kChunk = 1024, kSharedBytes = padded<W>(kPoints) * 4;
  static_assert(kMiddle >= 1 && kMiddle <= 5 && kThreads <= 1024 && kMinBlocks >= 1);

  W* points;
  unsigned rank, thread;
  const Factor<W>* factors;
  const W* twist;
  const Factor<W>* cyclic;
  W q, inverse;

  template <bool kInverse, class Access>
  __device__ __forceinline__ void first(const Access& access, Factor<W> scale) const {
#pragma unroll 1
    for (int step = 0; step < kThreadPoints / kRadix; ++step) {
      const unsigned column = rank * (kStride / kCluster) + step * kThreads + thread;
      W* place = points + padded<W>(column);
      W x[kRadix];
      if constexpr (!kInverse) {
#pragma unroll
        for (int k = 0; k < kRadix; ++k)
          x[k] = kAblate & kNoLoad   ? column + k
                 : kAblate & kStream ? load_once(&access(column + k * kStride))
                                     : access(column + k * kStride);
        transform_column<kFirst>(x, TreeFactors<W>{factors, 1}, q);
        if constexpr (kCluster > 1) {
          if (step == 0) cluster_wait();
        }
      }
#pragma unroll
      for (int k = 0; k < kRadix; ++k) {
        const unsigned offset = padded<W>(k % kOfBlock * kStride);
        if constexpr (kCluster > 1 && !(kAblate & kLocal)) {
          const ClusterPlace<W> remote(place, k / kOfBlock);
          if constexpr (kInverse)
            remote.load(offset, x[k]);
          else
            remote.store(offset, x[k]);
        } else {
          const unsigned own = kAblate & kLocal ? padded<W>((k / kOfBlock) * (kStride / kCluster)) -
                                                      padded<W>(rank * (kStride / kCluster))
                                                : 0;
          if constexpr (kInverse)
            x[k] = place[offset + own];
          else
            place[offset + own] = x[k];
        }
      }
      if constexpr (kInverse) {
        invert_column<kFirst>(x, TreeFactors<W>{factors, 1}, q);
#pragma unroll
        for (int k = 0; k < kRadix; ++k) {
          const W y = multiply(x[k], scale, q);
          if constexpr (kAblate & kStream)
            store_last(&access(column + k * kStride), y);
          else if (!(kAblate & kNoStore) || y == 0xffffffff)
            access(column + k * kStride) = y;
        }
      }
    }
  }

  /// The columns of a chunk in the layers between.
  template <bool kInverse>
  __device__ __forceinline__ void middle(unsigned chunk) const {
#pragma unroll
    for (unsigned c = 0; c < (kChunk / 32) >> kMiddle; ++c) {
      const unsigned group = chunk * (kChunk / (32 << kMiddle)) + c;
      const uint32_t node = (1u << kFirst) + rank * (kPoints >> (kLogN - kFirst)) + group;
      W* place = points + padded<W>(group * (32 << kMiddle)) + thread % 32;
      W x[1 << kMiddle];
#pragma unroll
      for (int k = 0; k < 1 << kMiddle; ++k)
        x[k] = place[padded<W>(k * 32)];
      if constexpr (kInverse)
        invert_column<kMiddle>(x, TreeFactors<W>{factors, node}, q);
      else
        transform_column<kMiddle>(x, TreeFactors<W>{factors, node}, q);
#pragma unroll
      for (int k = 0; k < 1 << kMiddle; ++k)
        place[padded<W>(k * 32)] = x[k];
    }
  }

  template <bool kInverse>
  __device__ __forceinline__ void runs(unsigned chunk, const W (&early)[32]) const {
    const unsigned run = chunk * 32 + thread % 32, g = rank * (kPoints / 32) + run;
    W* place = points + padded<W>(run * 32);
    W x[32];
#pragma unroll
    for (int i = 0; i < 32; i += 4) {
      const auto lane = *reinterpret_cast<const Vector<W>*>(place + i);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        x[i + j] = lane.at[j];
    }
    if constexpr (kLast == kTwist || kLast == kGenerate) {
      if constexpr (kInverse) {
        cyclic_layer<4, true>(x, cyclic, q);
        cyclic_layer<3, true>(x, cyclic, q);
        cyclic_layer<2, true>(x, cyclic, q);
        cyclic_layer<1, true>(x, cyclic, q);
        cyclic_layer<0, true>(x, cyclic, q);
      }
      if constexpr (!kInverse && (kAblate & kEarly))
        twist_early(x, early, q, inverse);
      else
        twist_points<kLast>(x, twist + g, kN / 32, q, inverse);
      if constexpr (!kInverse) {
        cyclic_layer<0, false>(x, cyclic, q);
        cyclic_layer<1, false>(x, cyclic, q);
        cyclic_layer<2, false>(x, cyclic, q);
        cyclic_layer<3, false>(x, cyclic, q);
        cyclic_layer<4, false>(x, cyclic, q);
      }
    } else if constexpr (kLast == kUniform) {
      const UniformFactors uniform{load_factor(factors + 1)};
      if constexpr (kInverse)
        invert_column<5>(x, uniform, q);
      else
        transform_column<5>(x, uniform, q);
    } else {
      const RunFactors<W> below{factors, g, kN / 32};
      if constexpr (kInverse)
        invert_column<5>(x, below, q);
      else
        transform_column<5>(x, below, q);
    }
#pragma unroll
    for (int i = 0; i < 32; i += 4)
      *reinterpret_cast<Vector<W>*>(place + i) = {x[i], x[i + 1], x[i + 2], x[i + 3]};
  }

  __device__ __forceinline__ void chunk_out(unsigned chunk, W* row) const {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned i = chunk * kChunk + k * 128 + thread % 32 * 4;
      Vector<W> lane = *reinterpret_cast<const Vector<W>*>(points + padded<W>(i));
#pragma unroll
      for (W& x : lane.at)
        x = reduce_forward(x, q);
      if constexpr (kAblate & kStream)
        store_last(row + rank * kPoints + i, lane);
      else if (!(kAblate & kNoStore) || lane.at[0] == 0xffffffff)
        store_vector(row + rank * kPoints + i, lane);
    }
  }

  __device__ __forceinline__ void chunk_in(unsigned chunk, const W* row) const {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned i = chunk * kChunk + k * 128 + thread % 32 * 4;
      *reinterpret_cast<Vector<W>*>(points + padded<W>(i)) = kAblate & kNoLoad ? Vector<W>{i, i, i, i}
                                                             : kAblate & kStream
                                                                 ? load_once_vector(row + rank * kPoints + i)
                                                                 : load_vector(row + rank * kPoints + i);
    }
  }

  __device__ __forceinline__ static void all_blocks() {
    if constexpr (kCluster > 1) {
      cluster_arrive();
      cluster_wait();
    } else {
      __syncthreads();
    }
  }

  template <bool kInverse>
  __device__ __forceinline__ void run(W* row, Factor<W> scale) const {
    const auto access = [&](size_t i) -> W& { return row[i]; };
    if constexpr (!kInverse) {
      if constexpr (kCluster > 1) cluster_arrive();
      first<false>(access, scale);
      all_blocks();
#pragma unroll 1
      for (unsigned chunk = thread / 32; chunk < kPoints / kChunk; chunk += kThreads / 32) {
        if constexpr (!(kAblate & kNoTail)) {
          W early[32];
          if constexpr (kAblate & kEarly) {
            const W* place = twist + rank * (kPoints / 32) + chunk * 32 + thread % 32;
#pragma unroll
            for (int j = 1; j < 32; ++j)
              early[j] = __ldg(place + j * (kN / 32));
          }
          middle<false>(chunk);
          __syncwarp();
          runs<false>(chunk, early);
          __syncwarp();
        }
        chunk_out(chunk, row);
      }
    } else {
#pragma unroll 1
      for (unsigned chunk = thread / 32; chunk < kPoints / kChunk; chunk += kThreads / 32) {
        chunk_in(chunk, row);
        if constexpr (!(kAblate & kNoTail)) {
          __syncwarp();
          const W early[32] = {};
          runs<true>(chunk, early);
          __syncwarp();
          middle<true>(chunk);
        }
      }
      all_blocks();
      first<true>(access, scale);
      if constexpr (kCluster > 1) all_blocks();
    }
  }
};

struct LabRows {
  W* data;
  unsigned count, per;  ///< primes; rows of a prime if rows of one prime run together, else 0
};

template <int kLogN, int kCluster, int kFirst, int kSmThreads, int kLast, int kAblate, bool kInverse>
__global__ void __launch_bounds__((LabNtt<kLogN, kCluster, kFirst, kSmThreads, kLast, kAblate>::kThreads),
                                  (LabNtt<kLogN, kCluster, kFirst, kSmThreads, kLast, kAblate>::kMinBlocks))
    lab_kernel(const LabRows rows, const LabTables tables) {
  using Ntt = LabNtt<kLogN, kCluster, kFirst, kSmThreads, kLast, kAblate>;
  const unsigned number = blockIdx.x / kCluster;
  const unsigned prime = rows.per != 0 ? number / rows.per : number % rows.count;
  const unsigned row = rows.per != 0 ? number % rows.per * rows.count + prime : number;
  const Prime<W> p = tables.base.primes[prime];
  const size_t base = size_t{prime} << kLogN;
  const Ntt ntt{dynamic_shared<W>(),
                blockIdx.x % kCluster,
                threadIdx.x,
                (kInverse ? tables.base.inverse : tables.base.forward) + base,
                tables.twist[kInverse] + base,
                tables.cyclic[kInverse] + prime * 16,
                p.q,
                p.inverse};
  ntt.template run<kInverse>(rows.data + (size_t{row} << kLogN), p.inverse_n);
}

template <int kLogN, int kCluster, int kFirst, int kSmThreads, int kLast, int kAblate, bool kInverse>
cudaError_t launch_lab(const LabRows& rows, size_t count, const LabTables& tables) {
  using Ntt = LabNtt<kLogN, kCluster, kFirst, kSmThreads, kLast, kAblate>;
  return launch(lab_kernel<kLogN, kCluster, kFirst, kSmThreads, kLast, kAblate, kInverse>, count * kCluster,
                Ntt::kThreads, kCluster, Ntt::kSharedBytes, nullptr, rows, tables);
}

struct Variant {
  const char* name;
  int log_n;
  bool right;
  cudaError_t (*run[2])(const LabRows&, size_t, const LabTables&);
};

#define VARIANT(n, c, f, t, l, a)                                                                     \
  Variant {                                                                                           \
    "cluster " #c ", first " #f ", " #t " threads, " #l ", " #a, n, ((a)&15) == 0 && l != kUniform, { \
      launch_lab<n, c, f, t, l, a, false>, launch_lab<n, c, f, t, l, a, true>                         \
    }                                                                                                 \
  }

inline const Variant kVariants[] = {
    VARIANT(12, 1, 5, 768, kTree, kNone),
    VARIANT(12, 1, 5, 768, kTwist, kNone),
    VARIANT(12, 1, 5, 768, kTwist, kStream),
    VARIANT(13, 1, 5, 768, kTree, kNone),
    VARIANT(13, 1, 5, 768, kTwist, kNone),
    VARIANT(13, 1, 5, 768, kTwist, kStream),
    VARIANT(14, 1, 5, 1024, kTree, kNone),
    VARIANT(14, 1, 5, 1024, kTree, kStream),
    VARIANT(14, 1, 5, 1024, kTwist, kNone),
    VARIANT(14, 1, 5, 1024, kTwist, kStream),
    VARIANT(14, 1, 5, 1024, kUniform, kNone),
    VARIANT(14, 1, 5, 1024, kGenerate, kNone),
    VARIANT(14, 1, 5, 1024, kTwist, kNoLoad),
    VARIANT(14, 1, 5, 1024, kTwist, kNoStore),
    VARIANT(14, 1, 5, 1024, kTwist, kNoLoad | kNoStore),
    VARIANT(14, 1, 5, 1024, kTwist, kNoTail),
    VARIANT(14, 2, 5, 768, kTwist, kNone),
    VARIANT(14, 2, 5, 768, kTwist, kEarly),
    VARIANT(15, 1, 5, 1024, kTree, kNone),
    VARIANT(15, 1, 5, 1024, kTwist, kNone),
    VARIANT(15, 2, 5, 1024, kTree, kNone),
    VARIANT(15, 2, 5, 1024, kTwist, kNone),
    VARIANT(15, 2, 5, 1024, kTwist, kStream),
    VARIANT(15, 4, 5, 768, kTree, kNone),
    VARIANT(15, 4, 5, 768, kTwist, kNone),
    VARIANT(15, 4, 5, 768, kTwist, kEarly),
    VARIANT(15, 4, 5, 1024, kTwist, kNone),
    VARIANT(15, 8, 5, 768, kTwist, kNone),
    VARIANT(15, 4, 5, 512, kTwist, kEarly),
    VARIANT(16, 8, 6, 512, kTree, kNone),
    VARIANT(16, 8, 6, 512, kTwist, kNone),
    VARIANT(16, 8, 6, 512, kTwist, kStream),
    VARIANT(16, 8, 6, 512, kTwist, kEarly),
    VARIANT(16, 8, 6, 512, kTwist, kStream | kEarly),
    VARIANT(16, 8, 6, 512, kGenerate, kNone),
    VARIANT(16, 8, 6, 640, kTwist, kNone),
    VARIANT(16, 8, 6, 640, kTwist, kEarly),
    VARIANT(16, 4, 6, 512, kTwist, kNone),
    VARIANT(16, 4, 6, 512, kTwist, kEarly),
    VARIANT(16, 8, 6, 512, kUniform, kNone),
    VARIANT(16, 8, 6, 512, kTwist, kLocal),
    VARIANT(16, 8, 6, 512, kTwist, kNoLoad),
    VARIANT(16, 8, 6, 512, kTwist, kNoStore),
    VARIANT(16, 8, 6, 512, kTwist, kNoTail),
    VARIANT(16, 8, 6, 512, kTwist, kNoLoad | kNoStore),
    VARIANT(16, 8, 6, 512, kTwist, kLocal | kNoLoad | kNoStore),
    VARIANT(16, 8, 6, 512, kTwist, kLocal | kNoTail),
};

struct HostLab {
  std::vector<W> twist[2];
  std::vector<Factor<W>> cyclic[2];
};

inline HostLab make_lab(int log_n, const std::vector<PrimeRoot>& primes) {
  const uint64_t n = uint64_t{1} << log_n, groups = n / 32;
  HostLab lab;
  for (const auto& [q, psi] : primes) {
    for (int inverse = 0; inverse < 2; ++inverse) {
      const uint64_t root = inverse ? inverse_mod(psi, q) : psi;
      const size_t base = lab.twist[inverse].size();
      lab.twist[inverse].resize(base + n);
      for (uint32_t g = 0; g < groups; ++g) {
        const uint64_t t = power_mod(root, reverse_bits(static_cast<uint32_t>(16 * (groups + g)), log_n), q);
        uint64_t power = (uint64_t{1} << 32) % q;
        for (int j = 0; j < 32; ++j, power = multiply_mod(power, t, q))
          lab.twist[inverse][base + j * groups + g] = static_cast<W>(power);
      }
      for (uint32_t m = 0; m < 16; ++m)
        lab.cyclic[inverse].push_back(make_factor<W>(power_mod(root, reverse_bits(m, log_n), q), q));
    }
  }
  return lab;
}

}  // namespace polykem::ckks::lab
