// SPDX-License-Identifier: Apache-2.0
// CKKS's arithmetic modulo a prime, on the CPU and as the device header has it, for proofs: tools/proofs/README.md.
// Every function reads its words from `in` and writes those of `out`.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

#include <bit>

#include "ckks/src/cuda/modular.cuh"
#include "ckks/src/modulus.hpp"

namespace {

namespace cuda = polykem::ckks::cuda;
using polykem::ckks::Factor;

/// Returns a modulus without Barrett's quotient, which these functions do not need.
polykem::ckks::Modulus modulus(uint64_t q) {
  struct alignas(16) Words {
    uint64_t q, others[3];
  };
  return std::bit_cast<polykem::ckks::Modulus>(Words{q, {}});
}

}  // namespace

#define FUNCTION(name, Word) extern "C" void ckks_##name(Word* out, const Word* in)
#define ON_DEVICE(bits, Word)                                                     \
  FUNCTION(cuda_lazy_##bits, Word) {                                              \
    out[0] = cuda::multiply_lazy(in[1], cuda::Factor<Word>{in[2], in[3]}, in[0]); \
  }                                                                               \
  FUNCTION(cuda_multiply_##bits, Word) {                                          \
    out[0] = cuda::multiply(in[1], cuda::Factor<Word>{in[2], in[3]}, in[0]);      \
  }                                                                               \
  FUNCTION(cuda_reduce_forward_##bits, Word) {                                    \
    out[0] = cuda::reduce_forward(in[1], in[0]);                                  \
  }                                                                               \
  FUNCTION(cuda_negate_##bits, Word) {                                            \
    out[0] = cuda::negate(in[1], in[0]);                                          \
  }                                                                               \
  FUNCTION(cuda_butterfly_##bits, Word) {                                         \
    Word x = in[4], y = in[1];                                                    \
    cuda::butterfly(x, y, cuda::Factor<Word>{in[2], in[3]}, in[0]);               \
    out[0] = x, out[1] = y;                                                       \
  }                                                                               \
  FUNCTION(cuda_inverse_butterfly_##bits, Word) {                                 \
    Word x = in[4], y = in[1];                                                    \
    cuda::inverse_butterfly(x, y, cuda::Factor<Word>{in[2], in[3]}, in[0]);       \
    out[0] = x, out[1] = y;                                                       \
  }
ON_DEVICE(32, uint32_t)
ON_DEVICE(64, uint64_t)

FUNCTION(cpu_lazy, uint64_t) {
  out[0] = modulus(in[0]).mul_lazy(in[1], Factor{in[2], in[3]});
}
FUNCTION(cpu_multiply, uint64_t) {
  out[0] = modulus(in[0]).mul(in[1], Factor{in[2], in[3]});
}
FUNCTION(cpu_reduce_once, uint64_t) {
  out[0] = modulus(in[0]).reduce_once(in[1]);
}
FUNCTION(cpu_add, uint64_t) {
  out[0] = modulus(in[0]).add(in[4], in[1]);
}
FUNCTION(cpu_sub, uint64_t) {
  out[0] = modulus(in[0]).sub(in[4], in[1]);
}
FUNCTION(cpu_negate, uint64_t) {
  out[0] = modulus(in[0]).negate(in[1]);
}

#endif
