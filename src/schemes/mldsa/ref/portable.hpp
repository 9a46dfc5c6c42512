// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.hpp"
#include "prim/keccak/keccak.hpp"
#include "prim/ntt/ntt.hpp"
#include "schemes/mldsa/instruction_set.hpp"

namespace polykem::mldsa::ref {

/// The portable instruction set: it computes one item and one Keccak state at a time.
struct Portable {
  static constexpr const char* kName = cpu::kRef;
  static constexpr size_t kStates = 1, kItems = 1;

  static const SingleNttFunctions& small_ntt() {
    static constexpr SingleNttFunctions kPortable{ntt::forward, ntt::inverse, ntt::multiply};
    return kPortable;
  }
  static void shake128(ByteRows out, size_t out_bytes, ConstByteRows in, size_t bytes, size_t count) {
    hash(Shake::Strength::kShake128, out, out_bytes, in, bytes, count);
  }
  static void shake256(ByteRows out, size_t out_bytes, ConstByteRows in, size_t bytes, size_t count) {
    hash(Shake::Strength::kShake256, out, out_bytes, in, bytes, count);
  }
  template <size_t kOut, size_t kIn>
  static void shake256_of_one(uint8_t* out, const uint8_t* in) {
    shake256({out, kOut}, kOut, {in, kIn}, kIn, 1);
  }
  static void permute(uint64_t* state) { keccak_f1600(state); }

 private:
  static void hash(Shake::Strength strength, ByteRows out, size_t out_bytes, ConstByteRows in, size_t bytes,
                   size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Shake xof(strength);
      xof.absorb({in.at(i), bytes});
      xof.squeeze({out.at(i), out_bytes});
    }
  }
};
static_assert(InstructionSet<Portable>);

}  // namespace polykem::mldsa::ref
