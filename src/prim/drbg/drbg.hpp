// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/status.hpp"
#include "prim/aes/aes256_ctr.hpp"

namespace polykem {

/// Random bytes from the operating system; Status::random if it gives none.
[[nodiscard]] Status os_entropy(std::span<uint8_t> out);

/// Random generator with fast key erasure: every fill() expands the key into the output and the next key, so that a
/// later look at the memory tells nothing about earlier outputs. Seeded by the operating system on first use, after a
/// fork, and every kReseedInterval fills. Not thread-safe: one per worker.
class Drbg {
 public:
  Drbg() = default;
  ~Drbg();
  Drbg(const Drbg&) = delete;
  Drbg& operator=(const Drbg&) = delete;

  /// Seeds if it is due. Call it before fill(); only this can fail.
  [[nodiscard]] Status prepare();

  /// Fills `out`; needs a successful prepare() before. Expands the key with SHAKE256, or with `keystream` if that is
  /// given: the backends that have fast AES name theirs.
  void fill(std::span<uint8_t> out, Aes256Ctr keystream = nullptr);

 private:
  static constexpr uint64_t kReseedInterval = 1 << 16;
  static constexpr size_t kKeyBytes = kAes256KeyBytes;

  uint8_t key_[kKeyBytes] = {};
  uint64_t fills_left_ = 0;
  int owner_process_ = 0;
};

}  // namespace polykem
