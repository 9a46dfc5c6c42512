// SPDX-License-Identifier: Apache-2.0
// polykem's generator for the peers, so that only schemes are compared. It makes AES-256's keystream in pieces of this
// size, so that a peer's call costs little more than a copy.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "prim/aes/aes256_ctr.hpp"
#include "prim/drbg/drbg.hpp"

namespace {

constexpr size_t kPieceBytes = 16 << 10;

class Pieces {
 public:
  void take(uint8_t* out, size_t length) {
    while (length > 0) {
      if (left_ == 0) {
        refill();
      }
      const size_t part = std::min(left_, length);
      std::memcpy(out, piece_ + kPieceBytes - left_, part);
      left_ -= part;
      out += part;
      length -= part;
    }
  }

 private:
  void refill() {
    if (drbg_.prepare() != polykem::Status::kOk) {
      std::abort();
    }
    drbg_.fill(piece_);
    left_ = kPieceBytes;
  }

  polykem::Drbg drbg_{polykem::kSystemSources, polykem::aes256_ctr_of_cpu()};
  uint8_t piece_[kPieceBytes];
  size_t left_ = 0;
};

}  // namespace

/// Not thread-safe; peers run on one thread.
extern "C" void polykem_peers_random(uint8_t* out, size_t length) {
  static Pieces pieces;
  pieces.take(out, length);
}
