// SPDX-License-Identifier: Apache-2.0
// The binary BCH codes of LAC: 256 bits of message, shortened from length 511 over GF(2^9). [LAC19]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

inline constexpr size_t kBchMessageBytes = 32;
inline constexpr size_t kBchMaxParityBytes = 18;

/// One code on one instruction set. No branch and no address depends on message, code word or errors. What is left on
/// the stack may reveal them; the caller zeroizes it.
struct BchFunctions {
  size_t errors;        ///< t, the number of wrong bits that are corrected
  size_t parity_bytes;  ///< 9 for t = 8, 18 for t = 16

  size_t code_bytes() const { return kBchMessageBytes + parity_bytes; }

  /// Computes parity = message x^(8 parity_bytes) mod g. In both, the most significant bit of each byte is first.
  void (*encode)(uint8_t* parity, const uint8_t message[kBchMessageBytes]);

  /// Corrects up to t wrong bits of the code word, which is the message, then the parity: t rounds of the
  /// Berlekamp-Massey algorithm give a polynomial, which is cut off after x^t, and the message bits at its roots are
  /// inverted. With more wrong bits, the result is not the message that was sent, but it is the same on all backends; a
  /// caller who must know whether it is right encodes again.
  void (*decode)(uint8_t message[kBchMessageBytes], const uint8_t* code);
};

extern const BchFunctions kBch8Portable, kBch16Portable;
extern const BchFunctions kBch8Avx2, kBch16Avx2;
extern const BchFunctions kBch8Avx512, kBch16Avx512;

}  // namespace polykem
