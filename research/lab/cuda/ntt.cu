// SPDX-License-Identifier: Apache-2.0
// Products by a number-theoretic transform of 32-bit words modulo one prime, so large that coefficients of a product
// with a small operand are exact. A block computes a product and a thread eight coefficients: three layers at a time in
// registers, with exchanges through shared memory. In negacyclic rings the transform has the ring's length. In cyclic
// ones the product is computed without reduction, by a transform of at least twice the degree.
#include "ntt_prime.cuh"
#include "ring.cuh"

namespace polykem::lab {

namespace {

template <class R>
struct NttShape {
  static constexpr int kLength = R::kNegacyclic ? R::kN : R::kN <= 512 ? 1024 : 2048;
  static constexpr int kLayers = kLength == 256 ? 8 : kLength == 512 ? 9 : kLength == 1024 ? 10 : 11;
  static constexpr int kThreads = kLength / 8;
  static constexpr int kPasses = (kLayers + 2) / 3;
  /// Inserts four words after every 32, which avoids most bank conflicts.
  static constexpr int kWords = kLength + kLength / 8;
};

__device__ __forceinline__ int place(int i) {
  return i + i / 32 * 4;
}

/// Returns the index of element j of a thread's eight in pass kPass. In the last pass they are neighbours.
template <class S, int kPass>
__device__ __forceinline__ int element(int thread, int j) {
  if constexpr (kPass == S::kPasses - 1) {
    return 8 * thread + j;
  } else {
    constexpr int kBlock = S::kLength >> (3 * kPass), kEighth = kBlock / 8;
    return thread / kEighth * kBlock + thread % kEighth + j * kEighth;
  }
}

/// Calls f(layer, distance in registers, pair, index of the factor) for all butterflies of a pass, layers ascending
/// or descending.
template <class S, int kPass, bool kDown, class F>
__device__ __forceinline__ void for_butterflies(int thread, F f) {
  constexpr bool kLast = kPass == S::kPasses - 1;
  constexpr int kFirst = 3 * kPass, kCount = S::kLayers - kFirst < 3 ? S::kLayers - kFirst : 3;
#pragma unroll
  for (int step = 0; step < kCount; ++step) {
    const int layer = kDown ? kFirst + kCount - 1 - step : kFirst + step;
    const int distance = kLast ? 1 << (S::kLayers - 1 - layer) : 4 >> (layer - kFirst);
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const int block = pair / distance, j = block * 2 * distance + pair % distance;
      const int before = kLast ? thread * (4 / distance) : (thread / (S::kLength >> (kFirst + 3))) << (layer - kFirst);
      f(j, j + distance, (1 << layer) + before + block);
    }
  }
}

template <class S, int kPass>
__device__ __forceinline__ void exchange(uint32_t (&x)[8], uint32_t* memory, int thread, bool store) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    uint32_t& word = memory[place(element<S, kPass>(thread, j))];
    if (store)
      word = x[j];
    else
      x[j] = word;
  }
}

/// Transforms. The last pass leaves values below 4p in registers.
template <class S, int kPass = 0>
__device__ __forceinline__ void forward(uint32_t (&x)[8], uint32_t* memory, const Factor* factors, int thread) {
  for_butterflies<S, kPass, false>(thread,
                                   [&](int i, int j, int factor) { forward_butterfly(x[i], x[j], factors[factor]); });
  if constexpr (kPass + 1 < S::kPasses) {
    __syncthreads();
    exchange<S, kPass>(x, memory, thread, true);
    __syncthreads();
    exchange<S, kPass + 1>(x, memory, thread, false);
    forward<S, kPass + 1>(x, memory, factors, thread);
  }
}

/// Transforms back to the order of the first pass; values are below 2p.
template <class S, int kPass = S::kPasses - 1>
__device__ __forceinline__ void inverse(uint32_t (&x)[8], uint32_t* memory, const Factor* factors, int thread) {
  for_butterflies<S, kPass, true>(thread,
                                  [&](int i, int j, int factor) { inverse_butterfly(x[i], x[j], factors[factor]); });
  if constexpr (kPass > 0) {
    __syncthreads();
    exchange<S, kPass>(x, memory, thread, true);
    __syncthreads();
    exchange<S, kPass - 1>(x, memory, thread, false);
    inverse<S, kPass - 1>(x, memory, factors, thread);
  }
}

/// Computes -1/p modulo 2^32.
constexpr uint32_t minus_inverse() {
  uint32_t x = 1;
  for (int i = 0; i < 5; ++i)
    x *= 2 - kPrime * x;
  return 0 - x;
}

/// Returns x y / 2^32 mod p, below 2p. x and y are below 4p.
__device__ __forceinline__ uint32_t multiply(uint32_t x, uint32_t y) {
  const uint64_t product = uint64_t{reduced_once(x, 2 * kPrime)} * reduced_once(y, 2 * kPrime);
  const uint32_t m = static_cast<uint32_t>(product) * minus_inverse();
  return static_cast<uint32_t>((product + uint64_t{m} * kPrime) >> 32);
}

/// Factors of the layers; entry 2^layer + block. `scale` undoes the transforms' length and multiply()'s 2^-32.
struct NttTable {
  const Factor *forward, *inverse;
  Factor scale;
};

template <class R>
__global__ void __launch_bounds__(NttShape<R>::kThreads) ntt_kernel(RingArgs<R> args, NttTable table) {
  using S = NttShape<R>;
  __shared__ uint32_t memory[S::kWords];
  const int thread = static_cast<int>(threadIdx.x);
  const size_t item = blockIdx.x;
  const auto* a = args.a + item * args.a_stride;
  const auto* b = args.b + item * args.b_stride;
  uint32_t x[8], y[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int i = element<S, 0>(thread, j);
    const int factor = i < R::kN ? b[i] : 0;
    x[j] = i < R::kN ? a[i] : 0;
    y[j] = factor < 0 ? factor + kPrime : factor;
  }
  forward<S>(x, memory, table.forward, thread);
  forward<S>(y, memory, table.forward, thread);
#pragma unroll
  for (int j = 0; j < 8; ++j)
    x[j] = multiply(x[j], y[j]);
  inverse<S>(x, memory, table.inverse, thread);
  __syncthreads();
  auto* sums = reinterpret_cast<int*>(memory);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const uint32_t value = reduced_once(times(x[j], table.scale), kPrime);
    sums[place(element<S, 0>(thread, j))] = static_cast<int>(value > kPrime / 2 ? value - kPrime : value);
  }
  __syncthreads();
  for (int k = thread; k < R::kN; k += S::kThreads) {
    int sum = sums[place(k)];
    if (!R::kNegacyclic && k + R::kN < S::kLength) sum += sums[place(k + R::kN)];
    args.c[item * R::kStride + k] = static_cast<typename R::Wide>(args.modulus.reduce(sum));
  }
}

uint32_t power(uint32_t base, uint32_t exponent) {
  uint64_t result = 1, x = base;
  for (; exponent != 0; exponent >>= 1, x = x * x % kPrime) {
    if ((exponent & 1) != 0) result = result * x % kPrime;
  }
  return static_cast<uint32_t>(result);
}

Factor factor_of(uint32_t w) {
  return {w, static_cast<uint32_t>((uint64_t{w} << 32) / kPrime)};
}

/// Returns the factor of block i in a layer of 2^layer blocks: w, if the block is modulo x^m - w^2.
std::vector<Factor> table_of(int layers, bool inverted) {
  const uint32_t length = 1u << layers;
  const uint32_t psi = power(kPrimeRoot, (kPrime - 1) / (2 * length));
  std::vector<Factor> table(length);
  for (uint32_t i = 1; i < length; ++i) {
    uint32_t reversed = 0;
    for (int bit = 0; bit < layers; ++bit)
      reversed |= (i >> bit & 1) << (layers - 1 - bit);
    const uint32_t w = power(psi, reversed);
    table[i] = factor_of(inverted ? power(w, kPrime - 2) : w);
  }
  return table;
}

template <class R>
class NttJob : public RingRows<R> {
 public:
  explicit NttJob(const Operands& operands) : RingRows<R>(operands) {
    using S = NttShape<R>;
    for (const bool inverted : {false, true}) {
      tables_[inverted] = DeviceArray<Factor>(S::kLength);
      tables_[inverted].upload(table_of(S::kLayers, inverted).data());
    }
    const uint32_t scale = static_cast<uint32_t>(uint64_t{power(S::kLength, kPrime - 2)} * power(2, 32) % kPrime);
    const NttTable table{tables_[0].data, tables_[1].data, factor_of(scale)};
    this->use(ntt_kernel<R>, static_cast<unsigned>(operands.items), S::kThreads, 0, this->args, table);
  }

 private:
  DeviceArray<Factor> tables_[2];
};

std::unique_ptr<Job> start(const Operands& operands) {
  std::unique_ptr<Job> job;
  with_ring(operands.problem, [&]<class R>() { job = std::make_unique<NttJob<R>>(operands); });
  return job;
}

bool supports(const Problem& problem, Sharing) {
  return has_ring(problem);
}
/// A product takes three transforms.
Work work(const Problem& problem, Sharing sharing) {
  double butterflies = 0;
  with_ring(problem, [&]<class R>() {
    using S = NttShape<R>;
    butterflies = 3.0 * S::kLayers * S::kLength / 2;
  });
  return {Unit::kButterfly, butterflies, ring_bytes(problem, sharing)};
}

const Registration kNtt({{"ntt", "cuda", "transforms of 32-bit words modulo a 30-bit prime", supports, work, start}});

}  // namespace

}  // namespace polykem::lab
