// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "prim/aes/aes256_ctr.hpp"
#include "prim/ntt/ntt_lanes.hpp"
#include "prim/simd/rows.hpp"

namespace polykem::mldsa {

/// What an instruction set offers to steps.hpp. Its arithmetic is compiled with the flags of the source.
template <class Isa>
concept InstructionSet = requires(ByteRows out, ConstByteRows in, uint8_t* to, size_t bytes, uint64_t* states) {
  /// The backend's name, one of core/backend.hpp.
  { Isa::kName } -> std::convertible_to<const char*>;
  /// Random bytes from AES-256 in counter mode; nullptr: from SHAKE256.
  { Isa::keystream() } -> std::same_as<Aes256Ctr>;
  /// Transforms mod 3329, for small products.
  { Isa::small_ntt() } -> std::same_as<const NttSingle&>;
  /// Keccak states that are permuted together, and items that are computed together.
  { Isa::kStates } -> std::convertible_to<size_t>;
  { Isa::kItems } -> std::convertible_to<size_t>;
  /// `bytes` bytes of SHAKE128 and SHAKE256 of rows of `bytes` bytes; the last: how many rows.
  Isa::shake128(out, bytes, in, bytes, bytes);
  Isa::shake256(out, bytes, in, bytes, bytes);
  /// 8 bytes of SHAKE256 of 8 bytes, and so of any numbers, at most a block out. With one state, which takes less time
  /// than kStates of them.
  Isa::template shake256_of_one<8, 8>(to, to);
  /// kStates permutations: word w of state i at states[w kStates + i], 64-byte aligned.
  Isa::permute(states);
};

}  // namespace polykem::mldsa
