// SPDX-License-Identifier: Apache-2.0
// The primitives for one item with vector instructions, in the form that ref::Arithmetic takes. A Keccak state is in
// few registers, a leaf of a product is in each lane, and neighbouring coefficients of a record are side by side.
#pragma once

#include "core/secure.hpp"
#include "prim/keccak/lanes/single.hpp"
#include "prim/ntt/lanes/single_records.hpp"
#include "schemes/saber/instruction_set.hpp"
#include "schemes/saber/interleaved/product.hpp"
#include "schemes/saber/ref/prims.hpp"

namespace polykem::saber::single {
inline namespace POLYKEM_ISA {

using interleaved::kLanes, interleaved::SingleProduct;
using simd::V16;

inline constexpr size_t kShake128Rate = 168;

template <InstructionSet Isa>
struct Prims : polykem::keccak::SingleHashes {
  template <size_t kBytes>
  static void shake128(ByteRows rows, ConstByteRows seed, size_t) {
    uint8_t* const out = rows.data;
    constexpr size_t kWhole = kBytes / kShake128Rate, kRest = kBytes % kShake128Rate;
    static_assert(kRest % 8 == 0);
    polykem::keccak::with_single_state([&](auto& state) __attribute__((always_inline)) {
      uint8_t block[kShake128Rate];
      polykem::keccak::pad_block<kShake128Rate>(block, seed.data, kSymBytes, polykem::keccak::kShakeSuffix);
      state.template absorb<kShake128Rate / 8>(block);
      for (size_t i = 0; i != kWhole; ++i) {  // GCC 14 warns of i < 0
        state.permute();
        state.template squeeze<kShake128Rate / 8>(out + i * kShake128Rate);
      }
      if constexpr (kRest > 0) {
        state.permute();
        state.template squeeze<kRest / 8>(out + kWhole * kShake128Rate);
      }
      zeroize(block, sizeof block);
      zeroize(&state, sizeof state);
    });
  }

  template <unsigned kBits>
  static void unpack(Poly& a, const uint8_t* in) {
    for (size_t i = 0; i < kN; i += kLanes)
      ntt::unpack_single<kBits>(in, i).store(a.c + i);
  }
  template <unsigned kBits>
  static void pack(uint8_t* out, const Poly& a) {
    const V16 mask = V16::set1((1u << kBits) - 1);
    for (size_t i = 0; i < kN; i += kLanes)
      ntt::pack_single<kBits>(out, i, V16::load(a.c + i) & mask);
  }

  template <size_t kL>
  using Space = SingleProduct::Space<kL>;
  template <size_t kRows, size_t kL>
  static void multiply(Poly* out, const Poly* a, const Poly* s, Space<kL>& space) {
    SingleProduct::multiply<kRows, kL>(out, a, s, space);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::single
