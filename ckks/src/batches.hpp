// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ckks/src/words.hpp"

namespace polykem::ckks {

class DeviceWords;

// A row is a polynomial modulo one prime: N words in [0, q), as Ntt::forward leaves them. "Limbs" are the first primes
// of Q, those that rescaling has left. Words lie in main memory, or on a device (device.hpp); `words` is empty then.

/// `count` ciphertexts that were computed alike.
struct Ciphertexts {
  size_t count = 0, parts = 2, limbs = 0;
  double scale = 1;  ///< the factor by which messages were multiplied
  size_t slots = 0;  ///< the number of complex numbers in a message
  size_t n = 0;
  uint64_t set = 0;  ///< Context::q_id()
  Words words;       ///< [count][parts][limbs][N]
  std::shared_ptr<const DeviceWords> on_device = nullptr;

  uint64_t* row(size_t item, size_t part, size_t limb) { return &words[((item * parts + part) * limbs + limb) * n]; }
  const uint64_t* row(size_t item, size_t part, size_t limb) const {
    return &words[((item * parts + part) * limbs + limb) * n];
  }
};

/// Encoded messages. One serves a whole batch of ciphertexts.
struct Plaintexts {
  size_t count = 0, limbs = 0;
  double scale = 1;
  size_t slots = 0;
  size_t n = 0;
  uint64_t set = 0;              ///< Context::q_id()
  SecretVector<uint64_t> words;  ///< [count][limbs][N]
  std::shared_ptr<const DeviceWords> on_device = nullptr;

  uint64_t* row(size_t item, size_t limb) { return &words[(item * limbs + limb) * n]; }
  const uint64_t* row(size_t item, size_t limb) const { return &words[(item * limbs + limb) * n]; }
};

/// A ternary secret s.
struct SecretKey {
  size_t n = 0;
  uint64_t set = 0;              ///< Context::id()
  SecretVector<uint64_t> words;  ///< [primes][N]

  const uint64_t* row(size_t prime) const { return &words[prime * n]; }
};

/// A public key: b = -a s + e.
struct PublicKey {
  size_t n = 0, limbs = 0;
  uint64_t set = 0;             ///< Context::q_id()
  std::vector<uint64_t> words;  ///< [b, a][limbs][N], all limbs of Q

  const uint64_t* row(size_t part, size_t limb) const { return &words[(part * limbs + limb) * n]; }
};

/// A key that takes ciphertexts from a secret s' to the secret s. For each digit it has b_j = -a_j s + e_j + P s',
/// where P s' is added modulo the digit's primes only.
struct SwitchingKey {
  size_t n = 0, primes = 0;
  uint64_t set = 0;             ///< Context::id()
  std::vector<uint64_t> words;  ///< [digits][b, a][primes][N]
  std::shared_ptr<const DeviceWords> on_device = nullptr;

  const uint64_t* row(size_t digit, size_t part, size_t prime) const {
    return &words[((digit * 2 + part) * primes + prime) * n];
  }
};

}  // namespace polykem::ckks
