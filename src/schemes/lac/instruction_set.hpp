// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include "prim/aes/aes256_ctr.hpp"
#include "prim/simd/rows.hpp"
#include "schemes/lac/bch/bch.hpp"

namespace polykem::lac {

/// The requirements of steps.hpp on an instruction set.
template <class Isa>
concept InstructionSet = requires(ByteRows out, ConstByteRows in, size_t n, uint8_t* words, const int8_t* s,
                                  typename Isa::Scratch& scratch) {
  /// The backend's name, one of core/backend.hpp.
  { Isa::kName } -> std::convertible_to<const char*>;
  /// The number of items that are computed together.
  { Isa::kItems } -> std::convertible_to<size_t>;
  /// Returns the stream cipher of the PRG.
  { Isa::prg() } -> std::convertible_to<Aes256Ctr>;
  /// Hashes `count` rows of `in`, the third argument being their length, to rows of `out`.
  Isa::sha256(out, in, n, n);
  /// Returns the code that corrects this number of errors.
  { Isa::bch(n) } -> std::same_as<const BchFunctions&>;
  /// Computes the first `count` coefficients of out = a s + added, the last two arguments before the scratch memory
  /// being n and `count`; `added` may be nullptr.
  Isa::multiply(words, words, s, s, n, n, scratch);
};

}  // namespace polykem::lac
