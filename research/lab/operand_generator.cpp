// SPDX-License-Identifier: Apache-2.0
#include "operand_generator.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace polykem::lab {

namespace {

/// SplitMix64.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  uint32_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>((x ^ (x >> 31)) >> 32);
  }
  /// Returns a number below `bound`.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(uint64_t{next()} * bound >> 32); }

 private:
  uint64_t state_;
};

enum Kind { kTop, kOne, kFirst, kLast, kZero, kRandom };
constexpr size_t kKinds = 6;

/// `bound`: see Problem.
void fill(uint16_t* words, size_t count, uint32_t q, uint32_t bound, Kind kind, uint64_t seed) {
  const uint32_t values = bound == 0 ? q : 2 * bound + 1;
  const auto top = static_cast<uint16_t>(bound == 0 ? q - 1 : 0u - bound);
  Noise noise(seed);
  switch (kind) {
    case kRandom:
      for (size_t i = 0; i < count; ++i)
        words[i] = static_cast<uint16_t>(noise.below(values) - bound);
      return;
    case kTop:
    case kOne:
      std::fill_n(words, count, kind == kOne ? uint16_t{1} : top);
      return;
    default:
      std::fill_n(words, count, uint16_t{0});
      if (kind != kZero) words[kind == kFirst ? 0 : count - 1] = top;
  }
}

}  // namespace

Operands OperandGenerator::make(const Problem& problem, Sharing sharing, size_t items, bool extreme) {
  const size_t count_a = sharing == Sharing::kA ? 1 : items, count_b = sharing == Sharing::kB ? 1 : items;
  uint16_t* const a = a_.room_for(count_a * problem.a_words());
  uint16_t* const b = b_.room_for(count_b * problem.b_words());
  const auto kind_of = [&](bool shared, size_t item, size_t which) {
    if (shared) return extreme ? kTop : kRandom;
    return item < kKinds * kKinds ? static_cast<Kind>(which) : kRandom;
  };
  in_parallel(count_a, [&](size_t i) {
    fill(a + i * problem.a_words(), problem.a_words(), problem.q, 0,
         kind_of(sharing == Sharing::kA, i, i / kKinds % kKinds), 2 * i);
  });
  in_parallel(count_b, [&](size_t i) {
    fill(b + i * problem.b_words(), problem.b_words(), problem.q, problem.b_bound,
         kind_of(sharing == Sharing::kB, i, i % kKinds), 2 * i + 1);
  });
  return {problem, sharing, items, a, b};
}

}  // namespace polykem::lab
