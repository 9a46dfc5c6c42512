// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/round.hpp"
#include "prim/polymul/polymul.hpp"
#include "prim/polymul/tile_mul.hpp"
#include "schemes/ntru/single/poly.hpp"

namespace polykem::ntru::single {
inline namespace POLYKEM_ISA {

/// Computes the products of TileMulFunctions item by item, by the product of a single item. Results are exact modulo
/// PolymulFunctions's 2^exact_bits_single. Those of bytes, whose sums of products must be below that, have no bits
/// above.
class SingleProducts {
 public:
  explicit SingleProducts(const PolymulFunctions& mul)
      : workspace_bytes(rounded_up(mul.workspace_single_bytes, 64) + 2 * width(mul.n) * sizeof(uint16_t)), mul_(mul) {}

  /// Lets callers use the object like the pointer that mul(n) returns for tiles.
  const SingleProducts* operator->() const { return this; }

  void mul_bytes(WordPolys c, ConstBytePolys a, ConstBytePolys b, size_t count, void* workspace) const {
    uint16_t* const wide_a = operands(workspace);
    uint16_t* const wide_b = wide_a + width(mul_.n);
    const __m512i exact = words((1u << mul_.exact_bits_single) - 1);
    for (size_t item = 0; item < count; ++item) {
      widen(wide_a, a, item);
      widen(wide_b, b, item);
      uint16_t* const out = row(c, item);
      mul_.mul_cyclic_single(out, wide_a, wide_b, workspace);
      for (size_t i = 0; i < width(mul_.n); i += 32)
        store64(out + i, _mm512_and_si512(load64(out + i), exact));
    }
  }

  void mul_words_bytes(WordPolys c, ConstWordPolys a, ConstBytePolys b, size_t count, void* workspace) const {
    uint16_t* const wide = operands(workspace);
    for (size_t item = 0; item < count; ++item) {
      widen(wide, b, item);
      mul_.mul_cyclic_single(row(c, item), row(a, item), wide, workspace);
    }
  }

  void mul_words(WordPolys c, ConstWordPolys a, ConstWordPolys b, size_t count, void* workspace) const {
    for (size_t item = 0; item < count; ++item)
      mul_.mul_cyclic_single(row(c, item), row(a, item), row(b, item), workspace);
  }

  const size_t workspace_bytes;

 private:
  static constexpr size_t width(size_t n) { return rounded_up(n, 64); }

  uint16_t* operands(void* workspace) const {
    return reinterpret_cast<uint16_t*>(static_cast<std::byte*>(workspace) + workspace_bytes) - 2 * width(mul_.n);
  }
  static uint16_t* row(WordPolys polys, size_t item) { return polys.data + item * (polys.stride / sizeof(uint16_t)); }
  static const uint16_t* row(ConstWordPolys polys, size_t item) {
    return polys.data + item * (polys.stride / sizeof(uint16_t));
  }
  void widen(uint16_t* out, ConstBytePolys in, size_t item) const {
    const int8_t* const bytes = in.data + item * in.stride;
    for (size_t i = 0; i < width(mul_.n); i += 32)
      store64(out + i, _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(bytes + i))));
  }

  const PolymulFunctions& mul_;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::single
