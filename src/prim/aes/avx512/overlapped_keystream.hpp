// SPDX-License-Identifier: Apache-2.0
// Writes a keystream while matrix tiles multiply: the AES instructions use a port that the tiles leave free.
#pragma once

#include <cstring>

#include "core/secure.hpp"
#include "prim/aes/aes256_ctr.hpp"
#include "prim/aes/avx512/ctr256.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

class OverlappedKeystream {
 public:
  /// Prepares to write the first `bytes` bytes of `stream` to `out`.
  OverlappedKeystream(uint8_t* out, size_t bytes, const Aes256Keystream& stream)
      : counters_(first_counters(stream.nonce, stream.counter)), out_(out), left_(bytes) {
    expand_key(keys_, stream.key);
  }
  ~OverlappedKeystream() { zeroize(keys_, sizeof keys_); }
  OverlappedKeystream(const OverlappedKeystream&) = delete;
  OverlappedKeystream& operator=(const OverlappedKeystream&) = delete;

  /// Writes kPiece bytes if that many are left. Four products of tiles hide the time that they take
  /// (src/schemes/ntru/README.md).
  POLYKEM_INLINE void advance() {
    if (left_ < kPiece) return;
    keystream_blocks<kRegisters>(out_, keys_, counters_);
    counters_ = later_counters(counters_, kRegisters);
    out_ += kPiece;
    left_ -= kPiece;
  }
  /// Writes the rest of the keystream.
  void finish() {
    while (left_ >= kPiece)
      advance();
    if (left_ == 0) return;
    uint8_t last[kPiece];
    keystream_blocks<kRegisters>(last, keys_, counters_);
    std::memcpy(out_, last, left_);
    zeroize(last, sizeof last);
    left_ = 0;
  }

 private:
  static constexpr size_t kRegisters = 2, kPiece = kRegisters * sizeof(__m512i);

  __m128i keys_[kRoundKeys];
  __m512i counters_;
  uint8_t* out_;
  size_t left_;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
