// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace polykem::bench::cpu_rates {

/// A 512-bit register.
struct alignas(64) Register {
  uint8_t bytes[64];
};

/// Enough chains to hide the latency of each instruction where two kinds alternate, at four per cycle. Each register is
/// source and destination of its chain.
constexpr size_t kChains = 24;
using Chains = std::array<Register, kChains>;

/// Executes its instruction once in each chain, `rounds` times, with `operand` as second operand. Needs AVX-512.
using Kernel = void (*)(Chains& chains, const Register& operand, uint64_t rounds);
/// A function that computes an instruction's effect on a register, in portable code.
using Model = void (*)(Register& value, const Register& operand);

/// An instruction, or two that alternate from chain to chain.
struct Subject {
  const char* name;
  const char* of;
  Kernel kernel;
  Model even, odd;  ///< models of the chains with even and odd numbers
};
std::span<const Subject> subjects();

/// Tile products of bytes: 16 rows of 64 bytes times 16 columns. Returns false if the CPU or the kernel has no tiles.
bool allow_tiles();
/// Two tiles of this thread and four accumulators. One object at a time.
class Tiles {
 public:
  Tiles();
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  /// `rounds` times a product onto each accumulator, with_aes: and kAesOfTile AES rounds of a register beside each
  /// product.
  void run(uint64_t rounds, bool with_aes);
  /// Returns whether the accumulators hold the sum of all products so far.
  bool are_right() const;

 private:
  uint64_t rounds_ = 0;
};
constexpr int kTilesOfRound = 4, kAesOfTile = 12;

}  // namespace polykem::bench::cpu_rates
