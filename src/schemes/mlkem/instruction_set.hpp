// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "core/scheme.hpp"
#include "prim/aes/aes256_ctr.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/ntt/ntt_lanes.hpp"

namespace polykem::mlkem {

/// What an instruction set offers to interleaved/, x8/ and single/. The vector types of prim/simd, which they also use,
/// come with the flags that a source is compiled with.
template <class Isa>
concept InstructionSet = requires {
  /// The backend's name, one of core/backend.hpp.
  { Isa::kName } -> std::convertible_to<const char*>;
  /// Random bytes from AES-256 in counter mode; nullptr: from SHAKE256.
  { Isa::keystream() } -> std::same_as<Aes256Ctr>;
  /// Transforms, products, compression and packing of blocks with an item in each lane.
  { Isa::ntt() } -> std::same_as<const NttLanes&>;
  /// Transforms and products of one polynomial.
  { Isa::ntt_single() } -> std::same_as<const NttSingle&>;
  /// Hashes of several messages of one length, a Keccak state in each lane.
  { Isa::keccak() } -> std::same_as<const KeccakLanes&>;
};

}  // namespace polykem::mlkem
