// SPDX-License-Identifier: Apache-2.0
// SHA3 and SHAKE over many messages of one length at a time, a message per vector lane. [FIPS202]
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cpu_features.hpp"
#include "prim/simd/rows.hpp"

namespace polykem {

/// The functions of one instruction set. Its stages call them, one thread for each call. `count` is any number >= 1; a
/// multiple of `lanes` fills every permutation. Outputs must not overlap inputs. Addresses depend on lengths only.
struct KeccakFunctions {
  size_t lanes;  ///< messages per permutation

  /// Computes SHA3-256 of `count` messages of `length` bytes, 32 bytes for each. [FIPS202, 6.1]
  void (*sha3_256)(ByteRows out, ConstByteRows in, size_t length, size_t count);
  /// Computes SHA3-512 of `count` messages of `length` bytes, 64 bytes for each. [FIPS202, 6.1]
  void (*sha3_512)(ByteRows out, ConstByteRows in, size_t length, size_t count);
  /// shake128 and shake256 compute SHAKE of `count` messages of `length` bytes, out_length bytes for each.
  /// [FIPS202, 6.2]
  void (*shake128)(ByteRows out, size_t out_length, ConstByteRows in, size_t length, size_t count);
  void (*shake256)(ByteRows out, size_t out_length, ConstByteRows in, size_t length, size_t count);
  /// shake128_joined and shake256_joined compute SHAKE of messages in two parts: first_length bytes of `first`, which
  /// are a whole number of blocks (168 or 136 bytes), and `length` bytes of `rest`.
  void (*shake128_joined)(ByteRows out, size_t out_length, ConstByteRows first, size_t first_length, ConstByteRows rest,
                          size_t length, size_t count);
  void (*shake256_joined)(ByteRows out, size_t out_length, ConstByteRows first, size_t first_length, ConstByteRows rest,
                          size_t length, size_t count);
  /// Permutes `lanes` states: word w of state i is states[w * lanes + i], 64-byte aligned.
  void (*permute)(uint64_t* states);
};

extern const KeccakFunctions kKeccakAvx2;
extern const KeccakFunctions kKeccakAvx512;
extern const KeccakFunctions kKeccakNeon;
extern const KeccakFunctions kKeccakNeonSha3;

/// The code that permutes eight states with AVX-512: what the compiler makes, or assembly for Intel's CPUs or for
/// a Zen 5.
enum class KeccakForm { kCompiled, kIntel, kZen5 };

/// The form for this CPU.
inline KeccakForm keccak_form() {
  return kCpuIsZen5 ? KeccakForm::kZen5 : kCpuByIntel ? KeccakForm::kIntel : KeccakForm::kCompiled;
}

/// Functions that have several forms with AVX-512; which one runs depends on the CPU.
struct KeccakForms {
  /// KeccakFunctions::permute, and shake128_joined and shake256_joined for two items or more. The forms in assembly
  /// move blocks while the states are permuted; the compiled one transposes them between permutations.
  struct Eight {
    void (*permute)(uint64_t* states);
    decltype(KeccakFunctions::shake128_joined) shake128, shake256;
  } compiled, intel, zen5;
  /// The permutation of one state, by planes in vector registers and by words in general registers.
  void (*planes)(uint64_t* state);
  void (*words)(uint64_t* state);
};
extern const KeccakForms kKeccakFormsAvx512;

}  // namespace polykem
