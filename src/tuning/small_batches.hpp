// SPDX-License-Identifier: Apache-2.0
// Which implementation computes how many items of an operation, for each family of CPUs and each scheme that has
// several. FrodoKEM, LAC, and NTRU on `amx` have one implementation for any number of items; where a primitive of
// theirs depends on the number, the limit is in its file.
//
// A comment above rows names the CPUs on which polykem_bench_small_batches measured them. It prints the rows of the CPU
// at hand in the form that they have here; CONTRIBUTING.md, Speed, says how to renew them. Operation::tail()
// (core/scheme.hpp) applies the limits.
#pragma once

#include <array>

#include "core/scheme.hpp"

namespace polykem::tuning {

/// Families of CPUs: a backend and, where it matters, the CPU's maker or model.
enum class Cpu { kAvx2, kAvx2Intel, kAvx512, kAvx512Zen5, kNeon, kNeonSha3 };

struct MaxItems {
  size_t keygen, encaps, decaps;
};

/// Limits of the operations that take keys.
struct MaxKeys {
  size_t encaps, decaps;
};

struct Row {
  Cpu cpu;
  size_t k = 0;  ///< of ML-KEM and Kyber; 0: all sets of the family
  /// The most items that are computed one after the other: each with its own key, with keys that a key set has
  /// expanded, with one key for all.
  MaxItems own_keys;
  MaxKeys expanded_keys, shared_key;
  /// ML-KEM: from how many items on, computed one after the other, the last hashes are computed side by side.
  size_t hashes_together = 0;

  /// tails: the items that do not fill registers at the end of a chunk are a small batch, too, as in ML-KEM.
  constexpr std::array<SmallBatchLimits, kOpsPerSet> limits(bool tails) const {
    return {{{own_keys.keygen, 0, 0, tails},
             {own_keys.encaps, expanded_keys.encaps, shared_key.encaps, tails},
             {own_keys.decaps, expanded_keys.decaps, shared_key.decaps, tails}}};
  }
};

// clang-format off
/// ML-KEM and Kyber.
inline constexpr Row kMlkem[] = {
    // Xeons and a Zen 4.
    {.cpu = Cpu::kAvx512, .k = 2, .own_keys = {6, 4, 4},
     .expanded_keys = {2, 2}, .shared_key = {2, 2}, .hashes_together = 2},
    {.cpu = Cpu::kAvx512, .k = 3, .own_keys = {5, 5, 5},
     .expanded_keys = {2, 2}, .shared_key = {2, 2}, .hashes_together = 2},
    {.cpu = Cpu::kAvx512, .k = 4, .own_keys = {6, 5, 5},
     .expanded_keys = {2, 2}, .shared_key = {2, 2}, .hashes_together = 2},
    // A Zen 5.
    {.cpu = Cpu::kAvx512Zen5, .k = 2, .own_keys = {4, 2, 3},
     .expanded_keys = {2, 1}, .shared_key = {2, 1}, .hashes_together = 2},
    {.cpu = Cpu::kAvx512Zen5, .k = 3, .own_keys = {4, 3, 4},
     .expanded_keys = {3, 1}, .shared_key = {3, 1}, .hashes_together = 2},
    {.cpu = Cpu::kAvx512Zen5, .k = 4, .own_keys = {6, 4, 4},
     .expanded_keys = {2, 1}, .shared_key = {2, 1}, .hashes_together = 2},
    // Xeons.
    {.cpu = Cpu::kAvx2Intel, .k = 2, .own_keys = {10, 8, 10},
     .expanded_keys = {8, 10}, .shared_key = {5, 5}, .hashes_together = 2},
    {.cpu = Cpu::kAvx2Intel, .k = 3, .own_keys = {9, 8, 10},
     .expanded_keys = {8, 10}, .shared_key = {5, 5}, .hashes_together = 2},
    {.cpu = Cpu::kAvx2Intel, .k = 4, .own_keys = {10, 8, 10},
     .expanded_keys = {8, 10}, .shared_key = {5, 5}, .hashes_together = 2},
    // A Zen 4.
    {.cpu = Cpu::kAvx2, .k = 2, .own_keys = {15, 7, 10},
     .expanded_keys = {7, 10}, .shared_key = {5, 5}, .hashes_together = 2},
    {.cpu = Cpu::kAvx2, .k = 3, .own_keys = {14, 14, 13},
     .expanded_keys = {14, 13}, .shared_key = {5, 5}, .hashes_together = 2},
    {.cpu = Cpu::kAvx2, .k = 4, .own_keys = {15, 15, 14},
     .expanded_keys = {15, 14}, .shared_key = {5, 5}, .hashes_together = 2},
    // Estimated from the number of instructions.
    {.cpu = Cpu::kNeon, .own_keys = {7, 11, 10},
     .expanded_keys = {11, 10}, .shared_key = {5, 5}, .hashes_together = 4},
    // Estimated likewise.
    {.cpu = Cpu::kNeonSha3, .own_keys = {6, 10, 10},
     .expanded_keys = {10, 10}, .shared_key = {5, 5}, .hashes_together = 4},
};

inline constexpr Row kSaber[] = {
    // A Zen 5.
    {.cpu = Cpu::kAvx512Zen5, .own_keys = {5, 5, 7},
     .expanded_keys = {10, 12}, .shared_key = {7, 9}},
    // Between the limits of a Zen 4 and those of a Xeon.
    {.cpu = Cpu::kAvx512, .own_keys = {8, 7, 9},
     .expanded_keys = {7, 9}, .shared_key = {7, 9}},
    {.cpu = Cpu::kAvx2, .own_keys = {3, 3, 3},
     .expanded_keys = {3, 3}, .shared_key = {3, 3}},
    {.cpu = Cpu::kNeon, .own_keys = {3, 3, 3},
     .expanded_keys = {3, 3}, .shared_key = {3, 3}},
    {.cpu = Cpu::kNeonSha3, .own_keys = {3, 3, 3},
     .expanded_keys = {3, 3}, .shared_key = {3, 3}},
};

inline constexpr Row kNtru[] = {
    // A Zen 5.
    {.cpu = Cpu::kAvx512, .own_keys = {10, 27, 19},
     .expanded_keys = {27, 19}, .shared_key = {27, 19}},
    {.cpu = Cpu::kAvx2, .own_keys = {3, 3, 3},
     .expanded_keys = {3, 3}, .shared_key = {3, 3}},
    // Estimated from the number of instructions.
    {.cpu = Cpu::kNeon, .own_keys = {7, 7, 7},
     .expanded_keys = {7, 7}, .shared_key = {7, 7}},
    {.cpu = Cpu::kNeonSha3, .own_keys = {7, 7, 7},
     .expanded_keys = {7, 7}, .shared_key = {7, 7}},
};
// clang-format on

/// The row of a set. A constant expression does not compile where there is none.
template <size_t kCount>
constexpr const Row& row(const Row (&family)[kCount], Cpu cpu, size_t k = 0) {
  for (const Row& r : family) {
    if (r.cpu == cpu && (r.k == k || r.k == 0)) return r;
  }
  throw "there is no such row";
}

}  // namespace polykem::tuning
