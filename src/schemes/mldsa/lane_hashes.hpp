// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/keccak/keccak.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/keccak/lanes/single.hpp"
#include "prim/simd/vec64.hpp"
#include "schemes/mldsa/instruction_set.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

/// The hashes of an InstructionSet, with a message in each Keccak state.
template <const KeccakFunctions& kKeccak>
struct LaneHashes {
  static constexpr size_t kStates = simd::V64::kLanes, kItems = 8;

  static void shake128(ByteRows out, size_t out_bytes, ConstByteRows in, size_t bytes, size_t count) {
    kKeccak.shake128(out, out_bytes, in, bytes, count);
  }
  static void shake256(ByteRows out, size_t out_bytes, ConstByteRows in, size_t bytes, size_t count) {
    kKeccak.shake256(out, out_bytes, in, bytes, count);
  }
  template <size_t kOut, size_t kIn>
  static void shake256_of_one(uint8_t* out, const uint8_t* in) {
    polykem::keccak::hash_single<static_cast<size_t>(Shake::Strength::kShake256), 0x1f, kOut, kIn>(out, in);
  }
  static void permute(uint64_t* states) { kKeccak.permute(states); }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
