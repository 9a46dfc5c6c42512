// SPDX-License-Identifier: Apache-2.0
// The hashes of a KEM's items under one name for all layouts. Each hashes kBytes bytes of each of `count` rows of `in`.
// Outputs have the length of the digest; those of SHAKE256 have that of a secret, 32 bytes. [FIPS202, 6]
#pragma once

#include "core/isa.hpp"
#include "prim/keccak/keccak.hpp"
#include "prim/keccak/keccak_lanes.hpp"

namespace polykem {
inline namespace POLYKEM_ISA {

/// Hashes one message, portably; `count` is 1.
struct PortableHashes {
  template <size_t kBytes>
  static void sha3_256(ByteRows out, ConstByteRows in, size_t) {
    polykem::sha3_256(out.data, {in.data, kBytes});
  }
  template <size_t kBytes>
  static void sha3_512(ByteRows out, ConstByteRows in, size_t) {
    polykem::sha3_512(out.data, {in.data, kBytes});
  }
  template <size_t kBytes>
  static void shake256(ByteRows out, ConstByteRows in, size_t) {
    Shake xof(Shake::Strength::kShake256);
    xof.absorb({in.data, kBytes});
    xof.squeeze({out.data, 32});
  }
};

/// Hashes a message in each Keccak state. Isa::keccak() is a KeccakFunctions.
template <class Isa>
struct LaneHashes {
  template <size_t kBytes>
  static void sha3_256(ByteRows out, ConstByteRows in, size_t count) {
    Isa::keccak().sha3_256(out, in, kBytes, count);
  }
  template <size_t kBytes>
  static void sha3_512(ByteRows out, ConstByteRows in, size_t count) {
    Isa::keccak().sha3_512(out, in, kBytes, count);
  }
  template <size_t kBytes>
  static void shake256(ByteRows out, ConstByteRows in, size_t count) {
    Isa::keccak().shake256(out, 32, in, kBytes, count);
  }
  /// Computes kOut bytes for each seed of 32 bytes.
  template <size_t kOut>
  static void shake128(ByteRows out, ConstByteRows in, size_t count) {
    Isa::keccak().shake128(out, kOut, in, 32, count);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem
