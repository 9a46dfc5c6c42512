// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

#include "prim/keccak/keccak_lanes.hpp"
#include "prim/polymul/polymul.hpp"
#include "schemes/ntru/polyinv/polyinv_lanes.hpp"

namespace polykem::ntru::interleaved {

/// The requirements of keygen.hpp and steps.hpp on an instruction set. The vector types of prim/simd, which they also
/// use, follow from the flags with which a source file is compiled.
template <class Isa>
concept InstructionSet = requires(size_t n) {
  /// The backend's name, one of core/backend.hpp.
  { Isa::kName } -> std::convertible_to<const char*>;
  /// Returns the products of polynomials of degree n.
  { Isa::mul(n) } -> std::same_as<const PolymulFunctions*>;
  /// Returns hashes of several messages of one length, with one Keccak state in each lane.
  { Isa::keccak() } -> std::same_as<const KeccakFunctions&>;
  /// Returns inversions.
  { Isa::inverse() } -> std::same_as<const PolyInvFunctions&>;
};

}  // namespace polykem::ntru::interleaved
