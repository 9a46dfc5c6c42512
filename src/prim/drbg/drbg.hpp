// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/status.hpp"
#include "prim/aes/aes256_ctr.hpp"

namespace polykem {

/// Fills `out` with random bytes from the operating system. Returns Status::kRandom if it gives none.
[[nodiscard]] Status os_entropy(std::span<uint8_t> out);

/// The sources that a generator draws on. Tests pass their own.
struct DrbgSources {
  Status (*entropy)(std::span<uint8_t> out);
  uint64_t (*nanoseconds)();  ///< a clock that also runs while the machine sleeps
  uint64_t (*generation)();   ///< a number that differs in every copy of the process; never 0
  uint64_t (*cpu_random)();   ///< 0 if the CPU has none; not relied upon
};
extern const DrbgSources kSystemSources;

/// A random generator with fast key erasure: every fill() expands the key into the output and the next key, so that the
/// memory never reveals earlier outputs [DJB17]. The operating system's entropy is mixed into the key on first use, in
/// a copy of the process, after kSeedLifetime and after kReseedInterval fills. A virtual machine that is resumed twice
/// from one snapshot holds equal keys until then, so each expansion also takes in the clock and the CPU's random
/// numbers. It is not thread-safe: each worker has its own.
class Drbg {
 public:
  static constexpr uint64_t kReseedInterval = 1 << 16;      ///< fills
  static constexpr uint64_t kSeedLifetime = 1'000'000'000;  ///< nanoseconds
  static constexpr size_t kEntropyBytes = 32;               ///< entropy taken with every seeding

  /// The generator expands its key with `aes`, or with SHAKE256 if that is nullptr.
  explicit Drbg(const DrbgSources& sources = kSystemSources, Aes256Ctr aes = nullptr) : sources_(sources), aes_(aes) {}
  ~Drbg();
  Drbg(const Drbg&) = delete;
  Drbg& operator=(const Drbg&) = delete;

  /// Seeds the generator if a seeding is due. Call it before fill() and begin_fill(). No other function can fail.
  [[nodiscard]] Status prepare();

  /// Fills `out`; needs a successful prepare() before.
  void fill(std::span<uint8_t> out);
  /// Fills `first`, which has whole blocks of AES, and sets `rest` to the keystream with which a longer fill() would
  /// continue, for a caller that writes it while it computes. Needs AES and a successful prepare() before. The old key
  /// lives as long as `rest`.
  void begin_fill(std::span<uint8_t> first, Aes256Keystream& rest);

 private:
  static constexpr size_t kKeyBytes = kAes256KeyBytes;

  [[nodiscard]] Status seed();
  void expand_by_aes(std::span<uint8_t> out);
  void expand_by_shake(std::span<uint8_t> out);
  void write_first(std::span<uint8_t> first, Aes256Keystream& rest);
  void count_fill() { fills_left_ -= fills_left_ > 0 ? 1 : 0; }

  const DrbgSources& sources_;
  const Aes256Ctr aes_;  ///< nullptr: SHAKE256
  uint8_t key_[kKeyBytes] = {};
  uint64_t fills_left_ = 0;
  uint64_t generation_ = 0;
  uint64_t seeded_at_ = 0;  ///< nanoseconds
  uint64_t nonce_ = 0;      ///< the clock and the CPU's random numbers at the last prepare()
};

}  // namespace polykem
