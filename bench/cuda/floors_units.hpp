// SPDX-License-Identifier: Apache-2.0
// The highest rate of each unit of the GPU, and the least time that an amount of work takes at these rates.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common.hpp"

namespace polykem::bench {

// The highest rates of this GPU: by bench/gpu_rates, and of tensor cores by research/lab, which are compared with these
// in tests/tools/test_floors.py.
inline constexpr const char* kRatesOf = "H200";
inline constexpr double kPermutationsPerSecond = 3.85e9;  ///< Keccak-f[1600]
inline constexpr double kRandomBlocksPerSecond = 24.7e9;  ///< ChaCha20, 64 bytes
inline constexpr double kMacsPerSecond = 645e12;          ///< int8 tensor cores, by mma.sync
inline constexpr double kButterfliesPerSecond = 5.01e12;  ///< multiply, high multiply, add, subtract on 32-bit words
/// Products of 32-bit words, each 64-bit product added to others with a carry: 31 lanes in every cycle.
inline constexpr double kProductsPerSecond = 8.14e12;
/// Operations of one of the two integer units, in each of 64 lanes of 132 multiprocessors in every cycle, at 1.98 GHz.
inline constexpr double kLanesPerSecond = 16.73e12;
/// Look-ups of words in shared memory: 32 in each cycle of a multiprocessor.
inline constexpr double kLookupsPerSecond = 8.37e12;
/// As NVIDIA's data sheet has it. Zeroization reaches 4.6e12, a copy 4.1e12.
inline constexpr double kBytesPerSecond = 4.8e12;

/// The work of a stage for one item: only that without which no implementation is known. Copies are not counted, nor
/// are operations on words that may stay as they are.
///
/// A multiprocessor has two units for integers, of 64 lanes each, that work at the same time. One does logic,
/// comparisons and shifts, the other one multiplies and so can shift; both add.
struct Work {
  // By the unit for logic.
  double permutations = 0;
  double random_blocks = 0;
  double logic = 0;  ///< logic operations of up to three operands and comparisons, on 32-bit words
  // By the multipliers.
  double butterflies = 0;
  double multiplications = 0;  ///< multiply-adds of 32-bit words; one with a product of 64 bits counts as two
  double products = 0;         ///< products of 64 bits that are added to others with a carry
  // By either of them.
  double operations = 0;  ///< one operation each: sums, shifts, extracted or inserted fields
  double rotations = 0;   ///< one operation of the unit for logic, or a product of 64 bits and a sum, which count as 3
  // By others.
  double lookups = 0;  ///< of words in shared memory
  double macs = 0;     ///< multiply-adds of bytes, by tensor cores
  double bytes = 0;    ///< of keys, ciphertexts, signatures and secrets that are read or written

  constexpr Work& operator+=(const Work& more) {
    permutations += more.permutations;
    random_blocks += more.random_blocks;
    logic += more.logic;
    butterflies += more.butterflies;
    multiplications += more.multiplications;
    products += more.products;
    operations += more.operations;
    rotations += more.rotations;
    lookups += more.lookups;
    macs += more.macs;
    bytes += more.bytes;
    return *this;
  }
  /// Returns the work of so many repetitions.
  constexpr Work times(double count) const {
    return {permutations * count,    random_blocks * count, logic * count,      butterflies * count,
            multiplications * count, products * count,      operations * count, rotations * count,
            lookups * count,         macs * count,          bytes * count};
  }

  /// Returns the least time in seconds of the two units for integers. However operations and rotations are divided
  /// between them, the longer of their times is no shorter than any weighted average of both: that with equal weights,
  /// or with three times the weight for the unit for logic, where rotations count alike in both units.
  constexpr double integer_seconds() const {
    const double by_logic =
        permutations / kPermutationsPerSecond + random_blocks / kRandomBlocksPerSecond + logic / kLanesPerSecond;
    const double by_multipliers =
        butterflies / kButterfliesPerSecond + multiplications / kLanesPerSecond + products / kProductsPerSecond;
    const double either = operations / kLanesPerSecond, rotated = rotations / kLanesPerSecond;
    return std::max({by_logic, by_multipliers, (by_logic + by_multipliers + either + rotated) / 2,
                     (3 * (by_logic + rotated) + by_multipliers + either) / 4});
  }

  /// Returns the least time in seconds. cached: bytes of an item that the L2 cache holds, so that they need not pass
  /// through device memory.
  constexpr double seconds(double cached) const {
    return std::max(
        {integer_seconds(), lookups / kLookupsPerSecond, macs / kMacsPerSecond, (bytes - cached) / kBytesPerSecond});
  }
};

/// Returns the blocks of the generator that hold these random bytes.
constexpr double random_blocks(size_t bytes) {
  constexpr size_t kBytesOfBlock = 64;
  return static_cast<double>((bytes + kBytesOfBlock - 1) / kBytesOfBlock);
}

/// Returns the permutations of a sponge that absorbs these bytes and squeezes at most `rate`.
constexpr double absorbed(double bytes, double rate) {
  return static_cast<double>(static_cast<size_t>(bytes / rate) + 1);
}

/// Returns the permutations of a sponge that absorbs less than `rate` and squeezes these bytes.
constexpr double squeezed(double bytes, double rate) {
  const auto whole = static_cast<size_t>(bytes / rate);
  return static_cast<double>(whole) + (static_cast<double>(whole) * rate < bytes ? 1 : 0);
}

}  // namespace polykem::bench
