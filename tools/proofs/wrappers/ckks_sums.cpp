// SPDX-License-Identifier: Apache-2.0
// CKKS's sums of products and their reductions modulo a prime by Barrett's and Montgomery's methods, on the CPU and as
// the device header has them, for proofs: tools/proofs/README.md. Every function reads its words from `in` and writes
// those of `out`.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

#include <bit>

#include "ckks/src/cuda/modular.cuh"
#include "ckks/src/modulus.hpp"

namespace {

namespace cuda = polykem::ckks::cuda;
using polykem::ckks::Wide;

/// Returns the modulus q with floor(2^128 / q), whose lower word comes first.
polykem::ckks::Modulus modulus(const uint64_t* in) {
  struct alignas(16) Words {
    uint64_t q, unused, quotient[2];
  };
  return std::bit_cast<polykem::ckks::Modulus>(Words{in[0], 0, {in[1], in[2]}});
}
uint32_t word(uint64_t x) {
  return static_cast<uint32_t>(x);
}
cuda::Prime<uint32_t> prime_32(uint64_t q, uint64_t inverse, uint64_t reciprocal) {
  return {word(q), word(inverse), reciprocal, {}};
}
cuda::Prime<uint64_t> prime_64(uint64_t q, uint64_t reciprocal) {
  return {q, reciprocal, {}, 0, 0, {}};
}

}  // namespace

#define FUNCTION(name) extern "C" void ckks_##name(uint64_t* out, const uint64_t* in)

FUNCTION(cpu_reduce) {
  out[0] = modulus(in).reduce(Wide{in[4]} << 64 | in[3]);
}
FUNCTION(cpu_multiply_words) {
  out[0] = modulus(in).mul(in[3], in[4]);
}
FUNCTION(cpu_from_signed) {
  out[0] = modulus(in).from_signed(static_cast<int64_t>(in[3]));
}

FUNCTION(cuda_reduce_sum_32) {
  out[0] = cuda::reduce(in[2], prime_32(in[0], 0, in[1]));
}
FUNCTION(cuda_reduce_word_32) {
  out[0] = cuda::reduce_word(word(in[2]), prime_32(in[0], 0, in[1]));
}
FUNCTION(cuda_reduce_word_64) {
  out[0] = cuda::reduce_word(in[2], prime_64(in[0], in[1]));
}
FUNCTION(cuda_products_32) {
  cuda::ProductSum<uint32_t> sum;
  for (int n = 0; n < cuda::ProductSum<uint32_t>::kMax; ++n)
    sum.add(word(in[2 + 2 * n]), word(in[3 + 2 * n]));
  out[0] = sum.reduced(prime_32(in[0], 0, in[1]));
}
FUNCTION(cuda_add_product_64) {
  cuda::ProductSum<uint64_t> sum{in[0], in[1]};
  sum.add(in[2], in[3]);
  out[0] = sum.low, out[1] = sum.high;
}
FUNCTION(cuda_reduced_64) {
  cuda::Prime<uint64_t> prime = prime_64(in[0], in[1]);
  prime.two_64 = {in[2], in[3]};
  out[0] = cuda::ProductSum<uint64_t>{in[4], in[5]}.reduced(prime);
}
FUNCTION(cuda_reduced_of_two_64) {
  cuda::Prime<uint64_t> prime = prime_64(in[0], 0);
  prime.barrett = in[1], prime.shift = in[2];
  cuda::ProductSum<uint64_t> sum;
  sum.add(in[3], in[4]);
  sum.add(in[5], in[6]);
  out[0] = sum.reduced_of_two(prime);
}
FUNCTION(cuda_fold_32) {
  cuda::MontgomerySum sum{word(in[1]), word(in[2])};
  sum.add(word(in[3]), word(in[4]));
  sum.add(word(in[5]), word(in[6]));
  sum.fold(word(in[0]));
  out[0] = sum.low, out[1] = sum.high;
}
FUNCTION(cuda_montgomery_32) {
  out[0] = cuda::montgomery_reduce(in[2], prime_32(in[0], in[1], 0));
}

#endif
