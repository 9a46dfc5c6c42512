// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's products by tiles, for proofs: tools/proofs/README.md. The library's A comes from AES, which no proof
// follows; here it lies in memory, and the products are the library's.
#include "core/isa.hpp"

#if defined(POLYKEM_ISA_AVX512) && defined(POLYKEM_HAVE_AMX)

#define Grid GeneratedGrid
#include "schemes/frodo/avx512/grid.hpp"
#undef Grid

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

/// A in memory. Rows have whole steps of columns.
struct Grid {
  const uint16_t* a;
  size_t stride;
  POLYKEM_INLINE void step(Blocks (&row)[kStepRows], size_t i, size_t j) const {
    for (size_t k = 0; k < kStepRows; ++k)
      row[k] = {_mm512_loadu_si512(a + (i + k) * stride + j)};
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes

#include "schemes/frodo/amx/mul_s_a.hpp"

using polykem::ConstMatrix16, polykem::Matrix16;
namespace amx = polykem::frodo::amx;

extern "C" void amx_frodo_mul_a_s(Matrix16 b, ConstMatrix16 a, const uint16_t* s_transposed, size_t n,
                                  std::byte* workspace) {
  polykem::Arena arena(workspace);
  amx::mul_a_s(b, {a.data, a.stride}, {s_transposed, n}, n, amx::RightSpace(arena, n));
}
extern "C" void amx_frodo_mul_s_a(Matrix16 b, const uint16_t* s, ConstMatrix16 a, size_t n, std::byte* workspace) {
  polykem::Arena arena(workspace);
  amx::mul_s_a(b, {s, n}, {a.data, a.stride}, n, amx::LeftSpace(arena, n));
}

#endif
