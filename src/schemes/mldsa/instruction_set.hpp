// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "prim/ntt/ntt_lanes.hpp"
#include "prim/simd/rows.hpp"

namespace polykem::mldsa {

/// The requirements of steps.hpp on an instruction set. The arithmetic follows from the flags with which a source file
/// is compiled.
template <class Isa>
concept InstructionSet = requires(ByteRows out, ConstByteRows in, uint8_t* to, size_t bytes, uint64_t* states) {
  /// The backend's name, one of core/backend.hpp.
  { Isa::kName } -> std::convertible_to<const char*>;
  /// Returns transforms mod 3329, for small products.
  { Isa::small_ntt() } -> std::same_as<const SingleNttFunctions&>;
  /// The number of Keccak states that are permuted together, and of items that are computed together.
  { Isa::kStates } -> std::convertible_to<size_t>;
  { Isa::kItems } -> std::convertible_to<size_t>;
  /// Compute SHAKE128 and SHAKE256 of rows. The arguments are the rows of output and their length, the rows of input
  /// and their length, and the number of rows.
  Isa::shake128(out, bytes, in, bytes, bytes);
  Isa::shake256(out, bytes, in, bytes, bytes);
  /// Computes SHAKE256 of one message with one state, which takes less time than kStates of them. The template
  /// arguments are the numbers of bytes of output, at most a block, and of input.
  Isa::template shake256_of_one<8, 8>(to, to);
  /// Permutes kStates states: word w of state i is states[w kStates + i], 64-byte aligned.
  Isa::permute(states);
};

}  // namespace polykem::mldsa
