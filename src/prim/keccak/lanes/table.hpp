// SPDX-License-Identifier: Apache-2.0
// The functions of KeccakFunctions. A single message is hashed in a state of its own where that is faster than a lane
// of the interleaved states.
#pragma once

#include "prim/keccak/lanes/single.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

template <size_t kRate>
POLYKEM_NOINLINE void shake_single(uint8_t* out, size_t out_length, const uint8_t* first, size_t first_length,
                                   const uint8_t* rest, size_t length) {
  constexpr size_t kRateWords = kRate / 8;
  with_single_state([&](auto& state) __attribute__((always_inline)) {
    const auto absorb = [&](const uint8_t* in) __attribute__((always_inline)) {
      state.template absorb<kRateWords>(in);
      state.permute();
    };
    for (; first_length >= kRate; first_length -= kRate, first += kRate)
      absorb(first);
    for (; length >= kRate; length -= kRate, rest += kRate)
      absorb(rest);
    uint8_t block[kRate];
    pad_block<kRate>(block, rest, length, kShakeSuffix);
    absorb(block);
    for (; out_length > kRate; out_length -= kRate, out += kRate) {
      state.template squeeze<kRateWords>(out);
      state.permute();
    }
    state.template squeeze<kRateWords>(block);
    std::memcpy(out, block, out_length);
  });
}

template <size_t kRate>
void shake_joined_rows(ByteRows out, size_t out_length, ConstByteRows first, size_t first_length, ConstByteRows rest,
                       size_t length, size_t count) {
  if (count == 1) return shake_single<kRate>(out.data, out_length, first.data, first_length, rest.data, length);
  hash_joined_rows<kRate, kShakeSuffix>(out, out_length, first, first_length, rest, length, count);
}

template <size_t kRate>
void shake_rows(ByteRows out, size_t out_length, ConstByteRows in, size_t length, size_t count) {
  shake_joined_rows<kRate>(out, out_length, in, 0, in, length, count);
}

inline constexpr KeccakFunctions kKeccakTable = {
    V64::kLanes,     sha3_256_rows,          sha3_512_rows,          shake_rows<168>,
    shake_rows<136>, shake_joined_rows<168>, shake_joined_rows<136>, permute_states};

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
