// SPDX-License-Identifier: Apache-2.0
// The measured instructions, in assembly, which the compiler does not simplify or reorder.
#include "rates.hpp"

#include "models.hpp"

namespace polykem::bench::cpu_rates {
namespace {

// One instruction on chain `a`, in register a; the operand is in register 31.
#define Z(n) "%%zmm" #n
#define VPADDW(a) "vpaddw " Z(31) ", " Z(a) ", " Z(a) "\n\t"
#define VPTERNLOGQ(a) "vpternlogq $0x78, " Z(31) ", " Z(31) ", " Z(a) "\n\t"
#define VPROLQ(a) "vprolq $13, " Z(a) ", " Z(a) "\n\t"
#define VPSHLDD(a) "vpshldd $7, " Z(31) ", " Z(a) ", " Z(a) "\n\t"
#define VPMULLW(a) "vpmullw " Z(31) ", " Z(a) ", " Z(a) "\n\t"
#define VPDPWSSD(a) "vpdpwssd " Z(31) ", " Z(31) ", " Z(a) "\n\t"
#define VPMINUD(a) "vpminud " Z(31) ", " Z(a) ", " Z(a) "\n\t"
#define VPERMW(a) "vpermw " Z(a) ", " Z(31) ", " Z(a) "\n\t"
#define VAESENC(a) "vaesenc " Z(31) ", " Z(a) ", " Z(a) "\n\t"

#define LOAD(a) "vmovdqa64 64*" #a "(%[chains]), " Z(a) "\n\t"
#define STORE(a) "vmovdqa64 " Z(a) ", 64*" #a "(%[chains])\n\t"
// clang-format off
#define CHAINS(EVEN, ODD) \
  EVEN(0) ODD(1) EVEN(2) ODD(3) EVEN(4) ODD(5) EVEN(6) ODD(7) EVEN(8) ODD(9) EVEN(10) ODD(11) \
  EVEN(12) ODD(13) EVEN(14) ODD(15) EVEN(16) ODD(17) EVEN(18) ODD(19) EVEN(20) ODD(21) EVEN(22) ODD(23)

#define KERNEL(function, EVEN, ODD) \
  void function(Chains& chains, const Register& operand, uint64_t rounds) { \
    static_assert(kChains == 24); \
    asm volatile("vmovdqa64 %[k], " Z(31) "\n\t" CHAINS(LOAD, LOAD) \
                 "1:\n\t" CHAINS(EVEN, ODD) "dec %[n]\n\tjnz 1b\n\t" CHAINS(STORE, STORE) \
                 : [n] "+r"(rounds) \
                 : [chains] "r"(chains.data()), [k] "m"(operand) \
                 : "cc", "memory", "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", \
                   "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", \
                   "zmm21", "zmm22", "zmm23", "zmm31"); \
  }
// clang-format on

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
