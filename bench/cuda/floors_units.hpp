// SPDX-License-Identifier: Apache-2.0
// The highest rate of each unit of the GPU, and the time that an amount of work takes at these rates.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common.hpp"

namespace polykem::bench {

// Measured on an H200, by bench/gpu_rates.
inline constexpr double kPermutationsPerSecond = 3.83e9;  ///< Keccak-f[1600]
inline constexpr double kRandomBlocksPerSecond = 24.6e9;  ///< ChaCha20, 64 bytes
inline constexpr double kMacsPerSecond = 641e12;          ///< int8 tensor cores
inline constexpr double kBytesPerSecond = 4.2e12;
inline constexpr double kLogicPerSecond = 16.7e12;       ///< 32-bit integer operations
inline constexpr double kButterfliesPerSecond = 4.5e12;  ///< multiply, high multiply, add, subtract on 32-bit words
/// Products of 32-bit words, each 64-bit product added to others with a carry: 31 lanes in every cycle, as measured.
inline constexpr double kProductsPerSecond = 8.1e12;
/// AES-128 by tables in shared memory, with 32 look-ups in each cycle of a multiprocessor. The blocks of a row and of a
/// column of A share the look-ups of two rounds, so that a block needs 128.
inline constexpr double kAesBitsPerSecond = 8.36e12;

/// The work of a stage for one item. The same integer units do everything but the products of tensor cores and of
/// words, so these times are added.
struct Work {
  double permutations = 0;
  double random_blocks = 0;
  double aes_bits = 0;  ///< bits of AES-128's output
  double butterflies = 0;
  double operations = 0;  ///< other 32-bit integer operations
  double macs = 0;
  double products = 0;       ///< products of 32-bit words, by the multipliers alone
  double skipped_bytes = 0;  ///< bytes of the step's records that none of its stages touches

  constexpr Work& operator+=(const Work& more) {
    permutations += more.permutations;
    random_blocks += more.random_blocks;
    aes_bits += more.aes_bits;
    butterflies += more.butterflies;
    operations += more.operations;
    macs += more.macs;
    products += more.products;
    skipped_bytes += more.skipped_bytes;
    return *this;
  }

  /// Returns the least time in seconds if `bytes` bytes also pass through device memory.
  constexpr double seconds(double bytes) const {
    const double integer = permutations / kPermutationsPerSecond + random_blocks / kRandomBlocksPerSecond +
                           aes_bits / kAesBitsPerSecond + butterflies / kButterfliesPerSecond +
                           operations / kLogicPerSecond;
    return std::max(
        {integer, macs / kMacsPerSecond, products / kProductsPerSecond, (bytes - skipped_bytes) / kBytesPerSecond});
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
