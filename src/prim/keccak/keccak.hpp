// SPDX-License-Identifier: Apache-2.0
// SHA3 and SHAKE over one message at a time. [FIPS202]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace polykem {

/// Permutes a state in place by Keccak-f[1600]; state[x + 5 y] is the standard's lane (x, y). [FIPS202, 3.3]
void keccak_f1600(uint64_t state[25]);

/// Computes SHA3-256 of the concatenation of two byte strings (the second may be empty). [FIPS202, 6.1]
void sha3_256(uint8_t out[32], std::span<const uint8_t> first, std::span<const uint8_t> second = {});

/// Computes SHA3-512 of the concatenation of two byte strings (the second may be empty). [FIPS202, 6.1]
void sha3_512(uint8_t out[64], std::span<const uint8_t> first, std::span<const uint8_t> second = {});

/// SHAKE as a stream: absorb any number of times, then squeeze any number of times. The destructor zeroizes the state.
/// [FIPS202, 6.2]
class Shake {
 public:
  enum class Strength { kShake128 = 168, kShake256 = 136 };  ///< the value is the rate in bytes

  explicit Shake(Strength strength) : rate_(static_cast<size_t>(strength)) {}
  ~Shake();
  Shake(const Shake&) = delete;
  Shake& operator=(const Shake&) = delete;

  void absorb(std::span<const uint8_t> in);
  void squeeze(std::span<uint8_t> out);

 private:
  void finish();

  uint64_t state_[25] = {};
  size_t rate_;
  size_t position_ = 0;
  bool squeezing_ = false;
};

}  // namespace polykem
