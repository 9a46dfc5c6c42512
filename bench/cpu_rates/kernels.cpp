// SPDX-License-Identifier: Apache-2.0
// The measured instructions, in assembly, which the compiler does not simplify or reorder.
#include "rates.hpp"

#include <immintrin.h>

#include "models.hpp"

namespace polykem::bench::cpu_rates {
namespace {

// One instruction on chain `a`; k is the operand.
#define VPADDW(a) "vpaddw %[k], %[" #a "], %[" #a "]\n\t"
#define VPTERNLOGQ(a) "vpternlogq $0x78, %[k], %[k], %[" #a "]\n\t"
#define VPROLQ(a) "vprolq $13, %[" #a "], %[" #a "]\n\t"
#define VPSHLDD(a) "vpshldd $7, %[k], %[" #a "], %[" #a "]\n\t"
#define VPMULLW(a) "vpmullw %[k], %[" #a "], %[" #a "]\n\t"
#define VPDPWSSD(a) "vpdpwssd %[k], %[k], %[" #a "]\n\t"
#define VPMINUD(a) "vpminud %[k], %[" #a "], %[" #a "]\n\t"
#define VPERMW(a) "vpermw %[" #a "], %[k], %[" #a "]\n\t"
#define VAESENC(a) "vaesenc %[k], %[" #a "], %[" #a "]\n\t"

#define KERNEL(function, EVEN, ODD)                                                                                   \
  void function(Chains& chains, const Register& operand, uint64_t rounds) {                                           \
    __m512i r[kChains];                                                                                               \
    for (size_t i = 0; i < kChains; ++i)                                                                              \
      r[i] = _mm512_load_si512(chains[i].bytes);                                                                      \
    asm volatile("1:\n\t" EVEN(a0) ODD(a1) EVEN(a2) ODD(a3) EVEN(a4) ODD(a5) EVEN(a6) ODD(a7) EVEN(a8) ODD(a9)      \
                     EVEN(a10) ODD(a11) "dec %[n]\n\t"                                                              \
                                        "jnz 1b"                                                                    \
                 : [a0] "+v"(r[0]), [a1] "+v"(r[1]), [a2] "+v"(r[2]), [a3] "+v"(r[3]), [a4] "+v"(r[4]),             \
                   [a5] "+v"(r[5]), [a6] "+v"(r[6]), [a7] "+v"(r[7]), [a8] "+v"(r[8]), [a9] "+v"(r[9]),             \
                   [a10] "+v"(r[10]), [a11] "+v"(r[11]), [n] "+r"(rounds)                                           \
                 : [k] "v"(_mm512_load_si512(operand.bytes))                                                        \
                 : "cc"); \
    for (size_t i = 0; i < kChains; ++i)                                                                              \
      _mm512_store_si512(chains[i].bytes, r[i]);                                                                      \
  }

KERNEL(add, VPADDW, VPADDW)
KERNEL(ternary, VPTERNLOGQ, VPTERNLOGQ)
KERNEL(rotate, VPROLQ, VPROLQ)
KERNEL(shift, VPSHLDD, VPSHLDD)
KERNEL(multiply, VPMULLW, VPMULLW)
KERNEL(multiply_pairs, VPDPWSSD, VPDPWSSD)
KERNEL(minimum, VPMINUD, VPMINUD)
KERNEL(permute, VPERMW, VPERMW)
KERNEL(aes, VAESENC, VAESENC)
KERNEL(rotate_ternary, VPROLQ, VPTERNLOGQ)
KERNEL(multiply_add, VPMULLW, VPADDW)
KERNEL(minimum_ternary, VPMINUD, VPTERNLOGQ)
KERNEL(aes_multiply, VAESENC, VPMULLW)
KERNEL(aes_add, VAESENC, VPADDW)
KERNEL(permute_ternary, VPERMW, VPTERNLOGQ)

constexpr Subject kSubjects[] = {
    {"vpaddw", "additions", add, model::add, model::add},
    {"vpternlogq", "logic of three operands", ternary, model::ternary, model::ternary},
    {"vprolq", "rotations", rotate, model::rotate, model::rotate},
    {"vpshldd", "shifts of two words into one", shift, model::shift, model::shift},
    {"vpmullw", "16-bit multiplications", multiply, model::multiply, model::multiply},
    {"vpdpwssd", "16-bit multiply-adds in pairs", multiply_pairs, model::multiply_pairs, model::multiply_pairs},
    {"vpminud", "32-bit minima", minimum, model::minimum, model::minimum},
    {"vpermw", "permutations of 16-bit words", permute, model::permute, model::permute},
    {"vaesenc", "AES rounds of four blocks", aes, model::aes, model::aes},
    {"vprolq, vpternlogq", "in turn", rotate_ternary, model::rotate, model::ternary},
    {"vpmullw, vpaddw", "in turn", multiply_add, model::multiply, model::add},
    {"vpminud, vpternlogq", "in turn", minimum_ternary, model::minimum, model::ternary},
    {"vpermw, vpternlogq", "in turn", permute_ternary, model::permute, model::ternary},
    {"vaesenc, vpmullw", "in turn", aes_multiply, model::aes, model::multiply},
    {"vaesenc, vpaddw", "in turn", aes_add, model::aes, model::add},
};

}  // namespace

std::span<const Subject> subjects() {
  return kSubjects;
}

}  // namespace polykem::bench::cpu_rates
