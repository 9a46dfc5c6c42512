// SPDX-License-Identifier: Apache-2.0
// Kernels that compute each point of a row from the same points of other rows. A thread takes sixteen bytes.
#pragma once

#include "ckks/src/cuda/modular.cuh"

namespace polykem::ckks::cuda {

inline constexpr int kElementThreads = 256;

/// The data of a thread: sixteen bytes at word `i` of row `row`.
template <class Word>
struct ElementPlace {
  unsigned row, i;
  __device__ __forceinline__ explicit ElementPlace(int log_n) {
    const unsigned log_blocks = log_n - 8 - (sizeof(Word) == 4 ? 2 : 1);  // log2 of the blocks of a row
    row = blockIdx.x >> log_blocks;
    i = ((blockIdx.x & ((1u << log_blocks) - 1)) * kElementThreads + threadIdx.x) * Vector<Word>::kWords;
  }
};

/// Returns a vector whose word j is body(j).
template <class Word, class Body>
__device__ __forceinline__ Vector<Word> make_vector(const Body& body) {
  Vector<Word> result;
#pragma unroll
  for (int j = 0; j < Vector<Word>::kWords; ++j)
    result.at[j] = body(j);
  return result;
}

struct AddWords {
  template <class Word>
  __device__ __forceinline__ static Word apply(Word a, Word b, const Prime<Word>& prime) {
    return subtract_once(a + b, prime.q);
  }
};
struct SubtractWords {
  template <class Word>
  __device__ __forceinline__ static Word apply(Word a, Word b, const Prime<Word>& prime) {
    return subtract_once(a - b + prime.q, prime.q);
  }
};
struct NegateWords {
  template <class Word>
  __device__ __forceinline__ static Word apply(Word a, Word, const Prime<Word>& prime) {
    return negate(a, prime.q);
  }
};
struct MultiplyWords {
  template <class Word>
  __device__ __forceinline__ static Word apply(Word a, Word b, const Prime<Word>& prime) {
    ProductSum<Word> sum;
    sum.add(a, b);
    return sum.reduced_of_two(prime);
  }
};

/// Computes out = a op b. In and out: words in [0, q). Row r of a meets row (r / a_per_b) * count + r % count of b,
/// where count is the number of rows of a polynomial. A thread takes the same words of kPolynomials polynomials, of
/// which a_per_b / count is a multiple.
template <class Op, int kPolynomials, class Word>
__global__ void __launch_bounds__(kElementThreads)
    elementwise_kernel(Word* out, const Word* a, const Word* b, unsigned a_per_b, const RowMap map,
                       const Tables<Word> tables) {
  const ElementPlace<Word> place(tables.log_n);
  after_previous_kernel();
  const unsigned limb = place.row % map.count, prime_number = map.prime[limb];
  if (prime_number == RowMap::kSkip) return;
  const Prime<Word> prime = tables.primes[prime_number];
  const unsigned row = place.row / map.count * (kPolynomials * map.count) + limb,
                 row_b = row / a_per_b * map.count + limb;
  const auto at = [&](unsigned r) { return (size_t{r} << tables.log_n) + place.i; };
  const Vector<Word> y = load_vector(b + at(row_b));
  Vector<Word> x[kPolynomials];
#pragma unroll
  for (int p = 0; p < kPolynomials; ++p)
    x[p] = load_vector(a + at(row + p * map.count));
#pragma unroll
  for (int p = 0; p < kPolynomials; ++p)
    store_vector(out + at(row + p * map.count),
                 make_vector<Word>([&](int j) { return Op::apply(x[p].at[j], y.at[j], prime); }));
}

/// Computes (c0, c1, c2) = (a0 b0, a0 b1 + a1 b0, a1 b1). In and out: words in [0, q). A row of the grid is a limb of a
/// ciphertext.
template <class Word>
__global__ void __launch_bounds__(kElementThreads)
    tensor_kernel(Word* out, const Word* a, const Word* b, const RowMap map, const Tables<Word> tables) {
  const ElementPlace<Word> place(tables.log_n);
  after_previous_kernel();
  const unsigned limb = place.row % map.count, ciphertext = place.row / map.count;
  const Prime<Word> prime = tables.primes[map.prime[limb]];
  const auto at = [&](unsigned parts, unsigned part) {
    return (((size_t{ciphertext} * parts + part) * map.count + limb) << tables.log_n) + place.i;
  };
  const Vector<Word> a0 = load_vector(a + at(2, 0)), a1 = load_vector(a + at(2, 1));
  const Vector<Word> b0 = load_vector(b + at(2, 0)), b1 = load_vector(b + at(2, 1));
  const auto product = [&](const Word& x, const Word& y) { return MultiplyWords::apply(x, y, prime); };
  store_vector(out + at(3, 0), make_vector<Word>([&](int j) { return product(a0.at[j], b0.at[j]); }));
  store_vector(out + at(3, 2), make_vector<Word>([&](int j) { return product(a1.at[j], b1.at[j]); }));
  store_vector(out + at(3, 1), make_vector<Word>([&](int j) {
                 ProductSum<Word> sum;
                 sum.add(a0.at[j], b1.at[j]);
                 sum.add(a1.at[j], b0.at[j]);
                 return sum.reduced_of_two(prime);
               }));
}

/// The arguments of key_product_kernel. Digits lie as [ciphertext][digit][limb][N], keys as [digit][part][limb][N] with
/// `key_limbs` limbs, of which limb `key_limb[l]` goes with limb l, and out as [ciphertext][2][limb][N].
template <class Word>
struct KeyProduct {
  Word* out;
  const Word* digits;
  const Word* own;  ///< [ciphertext][own_parts][own_limbs][N], of which the last part replaces the digits' own limbs
  const Word* keys;
  unsigned ciphertexts, first_digit, all_digits, digit_limbs, own_limbs, own_parts, key_limbs;
  bool accumulate;
};

inline constexpr int kKeyDigits = 4;            ///< digits of one launch; ProductSum<uint32_t> has room for no more
inline constexpr unsigned kKeyCiphertexts = 8;  ///< ciphertexts that one block multiplies by the same words of the keys

/// Multiplies digits by keys. A block keeps its words of the keys in registers and runs through ciphertexts. In and
/// out: words in [0, q).
template <class Word, int kDigits>
__global__ void __launch_bounds__(kElementThreads)
    key_product_kernel(const KeyProduct<Word> job, const RowMap map, const RowMap key_limb, const Tables<Word> tables) {
  const ElementPlace<Word> place(tables.log_n);
  after_previous_kernel();
  const unsigned limb = place.row % map.count, first = place.row / map.count * kKeyCiphertexts;
  const Prime<Word> prime = tables.primes[map.prime[limb]];
  const auto words = [&](size_t row) { return (row << tables.log_n) + place.i; };
  Vector<Word> key[2][kDigits];
#pragma unroll
  for (int d = 0; d < kDigits; ++d) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
      key[part][d] = load_vector(
          job.keys + words((size_t{job.first_digit + d} * 2 + part) * job.key_limbs + key_limb.prime[limb]));
  }
  const unsigned end = first + kKeyCiphertexts < job.ciphertexts ? first + kKeyCiphertexts : job.ciphertexts;
#pragma unroll 1
  for (unsigned ciphertext = first; ciphertext < end; ++ciphertext) {
    Vector<Word> digit[kDigits];
#pragma unroll
    for (int d = 0; d < kDigits; ++d) {
      const unsigned number = job.first_digit + d;
      const bool is_own = job.own != nullptr && limb < job.own_limbs && limb / job.digit_limbs == number;
      digit[d] = load_vector(
          is_own ? job.own + words((size_t{ciphertext} * job.own_parts + job.own_parts - 1) * job.own_limbs + limb)
                 : job.digits + words((size_t{ciphertext} * job.all_digits + number) * map.count + limb));
    }
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      Word* out = job.out + words((size_t{ciphertext} * 2 + part) * map.count + limb);
      Vector<Word> result = make_vector<Word>([&](int j) {
        ProductSum<Word> sum;
#pragma unroll
        for (int d = 0; d < kDigits; ++d)
          sum.add(digit[d].at[j], key[part][d].at[j]);
        return sum.reduced(prime);
      });
      if (job.accumulate) {
        const Vector<Word> before = load_vector(out);
        result = make_vector<Word>([&](int j) { return subtract_once(result.at[j] + before.at[j], prime.q); });
      }
      store_vector(out, result);
    }
  }
}

/// Computes out = a(X^exponent) in evaluation form: point i of the result is the value of a at psi to exponent times
/// what i stands for. Words are copied, so they may have any range. 2^k neighbouring points, aligned, come from as many
/// aligned neighbours, so a warp reads whole lines.
template <class Word>
__global__ void __launch_bounds__(kElementThreads)
    automorphism_kernel(Word* out, const Word* a, unsigned exponent, const RowMap map, int log_n) {
  after_previous_kernel();
  const unsigned log_blocks = log_n - 10;
  const unsigned row = blockIdx.x >> log_blocks, first = (blockIdx.x & ((1u << log_blocks) - 1)) << 10;
  if (map.prime[row % map.count] == RowMap::kSkip) return;
  const size_t base = size_t{row} << log_n;
#pragma unroll
  for (int k = 0; k < 1024 / kElementThreads; ++k) {
    const unsigned i = first + k * kElementThreads + threadIdx.x;
    const unsigned power = exponent * (2 * (__brev(i) >> (32 - log_n)) + 1);
    const unsigned from = __brev(power >> 1 & ((1u << log_n) - 1)) >> (32 - log_n);
    out[base + i] = a[base + from];
  }
}

}  // namespace polykem::ckks::cuda
