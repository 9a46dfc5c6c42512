// SPDX-License-Identifier: Apache-2.0
// What one unit of the card does at best, and the time that so much work takes there.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common.hpp"

namespace polykem::bench {

// Measured on an H200: what one unit does at best. bench/gpu_rates measures all of them again.
inline constexpr double kPermutationsPerSecond = 3.83e9;  ///< Keccak-f[1600]
inline constexpr double kMacsPerSecond = 641e12;          ///< int8 tensor cores
inline constexpr double kBytesPerSecond = 4.2e12;
inline constexpr double kLogicPerSecond = 16.7e12;       ///< 32-bit integer operations
inline constexpr double kButterfliesPerSecond = 4.5e12;  ///< multiply, high multiply, add, subtract on 32-bit words
/// 32-bit words multiplied, the product of 64 bits added to others with a carry: measured, 31 lanes in every cycle.
inline constexpr double kProductsPerSecond = 8.1e12;
/// AES-128 by tables in shared memory: 32 look-ups a cycle and multiprocessor. The blocks of a row and of a column of A
/// share look-ups of two rounds, so that a block needs 128.
inline constexpr double kAesBitsPerSecond = 8.36e12;

/// The work of a stage for one item. Everything but the tensor cores' products and those of words is done by the same
/// integer units, so its times add up.
struct Work {
  double permutations = 0;
  double aes_bits = 0;  ///< of AES-128's output
  double butterflies = 0;
  double operations = 0;  ///< other 32-bit integer operations
  double macs = 0;
  double products = 0;       ///< of 32-bit words, by the multipliers alone
  double skipped_bytes = 0;  ///< of the records that the step's fields name, but no stage of it touches

  constexpr Work& operator+=(const Work& more) {
    permutations += more.permutations;
    aes_bits += more.aes_bits;
    butterflies += more.butterflies;
    operations += more.operations;
    macs += more.macs;
    products += more.products;
    skipped_bytes += more.skipped_bytes;
    return *this;
  }

  /// The least time in seconds, if so many bytes cross device memory too.
  constexpr double seconds(double bytes) const {
    const double integer = permutations / kPermutationsPerSecond + aes_bits / kAesBitsPerSecond +
                           butterflies / kButterfliesPerSecond + operations / kLogicPerSecond;
    return std::max(
        {integer, macs / kMacsPerSecond, products / kProductsPerSecond, (bytes - skipped_bytes) / kBytesPerSecond});
  }
};

/// Permutations of a sponge that absorbs so many bytes and squeezes no more than `rate`.
constexpr double absorbed(double bytes, double rate) {
  return static_cast<double>(static_cast<size_t>(bytes / rate) + 1);
}

/// Permutations of a sponge that absorbs less than `rate` and squeezes so many bytes.
constexpr double squeezed(double bytes, double rate) {
  const auto whole = static_cast<size_t>(bytes / rate);
  return static_cast<double>(whole) + (static_cast<double>(whole) * rate < bytes ? 1 : 0);
}

}  // namespace polykem::bench
