// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "core/scheme.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/ntt/ntt_lanes.hpp"

namespace polykem::mlkem {

/// The requirements of interleaved/, x8/ and single/ on an instruction set. The vector types of prim/simd, which they
/// also use, follow from the flags with which a source file is compiled.
template <class Isa>
concept InstructionSet = requires {
  /// The backend's name, one of core/backend.hpp.
  { Isa::kName } -> std::convertible_to<const char*>;
  /// Returns transforms and products of a single polynomial.
  { Isa::ntt_single() } -> std::same_as<const SingleNttFunctions&>;
  /// Returns hashes of several messages of one length, with one Keccak state in each lane.
  { Isa::keccak() } -> std::same_as<const KeccakFunctions&>;
};

/// The further requirements of interleaved/.
template <class Isa>
concept InterleavedInstructionSet = InstructionSet<Isa> && requires {
  /// Returns transforms, products, sums and compression of interleaved polynomials.
  { Isa::ntt() } -> std::same_as<const NttFunctions&>;
};

}  // namespace polykem::mlkem
