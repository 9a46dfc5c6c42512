// SPDX-License-Identifier: Apache-2.0
// SHAKE256 of messages of different lengths, one in each Keccak state. [FIPS202, 6.2]
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "schemes/mldsa/instruction_set.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

/// A message in fragments, which is read from front to back.
class FragmentReader {
 public:
  static constexpr size_t kMaxFragments = 5;

  void add(std::span<const uint8_t> fragment) { fragments_[count_++] = fragment; }

  /// Copies up to `bytes` bytes, fewer only at the message's end, and returns their number.
  size_t read(uint8_t* out, size_t bytes) {
    size_t copied = 0;
    for (; copied < bytes && next_ < count_;) {
      std::span<const uint8_t>& fragment = fragments_[next_];
      const size_t n = std::min(bytes - copied, fragment.size());
      if (n > 0) std::memcpy(out + copied, fragment.data(), n);
      copied += n;
      fragment = fragment.subspan(n);
      next_ += fragment.empty();
    }
    return copied;
  }

 private:
  std::array<std::span<const uint8_t>, kMaxFragments> fragments_{};
  size_t count_ = 0, next_ = 0;
};

/// Computes 64 bytes of SHAKE256 of each of up to kStates messages. Their lengths are public.
template <InstructionSet Isa>
class StringHashes {
 public:
  static constexpr size_t kStates = Isa::kStates;

  /// `out` has `count` rows.
  static void run(ByteRows out, FragmentReader* messages, size_t count) {
    alignas(64) uint64_t states[25 * kStates] = {};
    std::array<State, kStates> at{};
    for (size_t left = count; left > 0;) {
      for (size_t i = 0; i < count; ++i)
        if (at[i] == State::kAbsorbs && absorb(states + i, messages[i])) at[i] = State::kHasAll;
      Isa::permute(states);
      for (size_t i = 0; i < count; ++i) {
        if (at[i] != State::kHasAll) continue;
        squeeze(out.at(i), states + i);
        at[i] = State::kDone;
        --left;
      }
    }
  }

 private:
  enum class State { kAbsorbs, kHasAll, kDone };
  static constexpr size_t kRate = 136;

  /// Absorbs the next block of a message. Returns true if it is the last. [FIPS202, B.2]
  static bool absorb(uint64_t* state, FragmentReader& message) {
    uint8_t block[kRate];
    const size_t bytes = message.read(block, kRate);
    const bool last = bytes < kRate;
    if (last) {
      std::memset(block + bytes, 0, kRate - bytes);
      block[bytes] = 0x1f;
      block[kRate - 1] |= 0x80;
    }
    for (size_t w = 0; w < kRate / 8; ++w) {
      uint64_t word;
      std::memcpy(&word, block + 8 * w, 8);
      state[w * kStates] ^= word;
    }
    return last;
  }

  static void squeeze(uint8_t* out, const uint64_t* state) {
    for (size_t w = 0; w < 8; ++w)
      std::memcpy(out + 8 * w, &state[w * kStates], 8);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
