// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "prim/keccak/keccak_lanes.hpp"

namespace polykem::saber {

/// The requirements of interleaved/ on an instruction set. The vector types of prim/simd, which it also uses, follow
/// from the flags with which a source file is compiled.
template <class Isa>
concept InstructionSet = requires {
  /// The backend's name, one of core/backend.hpp.
  { Isa::kName } -> std::convertible_to<const char*>;
  /// Returns hashes of several messages of one length, with one Keccak state in each lane.
  { Isa::keccak() } -> std::same_as<const KeccakFunctions&>;
};

}  // namespace polykem::saber
