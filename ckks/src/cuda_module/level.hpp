// SPDX-License-Identifier: Apache-2.0
// The constants of ciphertexts with a certain number of limbs, in device memory.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "ckks/src/cuda/kernels.hpp"
#include "ckks/src/cuda_module/memory.hpp"

namespace polykem::ckks::cuda {

/// The primes of a parameter set, those of Q first, then those of P, and how many there are of each.
struct Chain {
  std::vector<PrimeRoot> primes;
  uint32_t limbs, special, digit_limbs;
};

/// Returns the primes first..first + count - 1.
inline RowMap primes_from(uint32_t first, uint32_t count) {
  RowMap map;
  map.count = count;
  for (uint32_t i = 0; i < count; ++i)
    map.prime[i] = static_cast<uint8_t>(first + i);
  return map;
}

template <class Word>
class DeviceConversion {
 public:
  DeviceConversion(const Memory& memory, const HostConversion<Word>& host)
      : hat_inverse_(memory, host.hat_inverse), matrix_(memory, host.matrix), fragments_(memory, host.fragments) {
    conversion_ = {host.sources, host.targets, {}, hat_inverse_.get(), matrix_.get(), fragments_.get()};
    std::copy(host.source_primes.begin(), host.source_primes.end(), conversion_.source_prime);
  }
  const Conversion<Word>& get() const { return conversion_; }

 private:
  Array<Factor<Word>> hat_inverse_;
  Array<Word> matrix_;
  Array<uint32_t> fragments_;
  Conversion<Word> conversion_;
};

/// The constants of key switching of ciphertexts with `limbs` limbs.
template <class Word>
class LevelKeys {
 public:
  LevelKeys(const Memory& memory, const Chain& chain, uint32_t limbs)
      : down_(memory, make_conversion<Word>(chain.primes, numbers(chain.limbs, chain.special), primes_from(0, limbs))),
        inverse_special_(memory, inverses_of_special(chain, limbs)) {
    const uint32_t rows = limbs + chain.special, digits = (limbs + chain.digit_limbs - 1) / chain.digit_limbs;
    RowMap all = primes_from(0, rows);
    for (uint32_t row = limbs; row < rows; ++row)
      all.prime[row] = static_cast<uint8_t>(chain.limbs + row - limbs);
    for (uint32_t digit = 0; digit < digits; ++digit) {
      const uint32_t first = digit * chain.digit_limbs, size = std::min(chain.digit_limbs, limbs - first);
      RowMap targets = all;
      std::fill_n(targets.prime + first, size, RowMap::kSkip);
      conversions_.push_back(std::make_unique<DeviceConversion<Word>>(
          memory, make_conversion<Word>(chain.primes, numbers(first, size), targets)));
      up_.push_back(conversions_.back()->get());
    }
    keys_ = {{all, all, limbs, digits, chain.digit_limbs, chain.limbs + chain.special},
             up_.data(),
             &down_.get(),
             inverse_special_.get()};
  }
  LevelKeys(const LevelKeys&) = delete;
  LevelKeys& operator=(const LevelKeys&) = delete;

  const KeySwitch<Word>& get() const { return keys_; }

 private:
  static std::vector<uint8_t> numbers(uint32_t first, uint32_t count) {
    const RowMap map = primes_from(first, count);
    return {map.prime, map.prime + count};
  }
  static std::vector<Factor<Word>> inverses_of_special(const Chain& chain, uint32_t limbs) {
    std::vector<uint64_t> special;
    for (uint32_t i = 0; i < chain.special; ++i)
      special.push_back(chain.primes[chain.limbs + i].q);
    std::vector<Factor<Word>> factors;
    for (uint32_t limb = 0; limb < limbs; ++limb) {
      const uint64_t q = chain.primes[limb].q;
      factors.push_back(make_factor<Word>(inverse_mod(product_mod(special, -1, q), q), q));
    }
    return factors;
  }

  std::vector<std::unique_ptr<DeviceConversion<Word>>> conversions_;
  std::vector<Conversion<Word>> up_;
  DeviceConversion<Word> down_;
  Array<Factor<Word>> inverse_special_;
  KeySwitch<Word> keys_;
};

/// Returns 1 / the last of `limbs` primes modulo the others.
template <class Word>
std::vector<Factor<Word>> inverses_of_last(const Chain& chain, size_t limbs) {
  std::vector<Factor<Word>> factors;
  for (size_t limb = 0; limb + 1 < limbs; ++limb) {
    const uint64_t q = chain.primes[limb].q;
    factors.push_back(make_factor<Word>(inverse_mod(chain.primes[limbs - 1].q, q), q));
  }
  return factors;
}

}  // namespace polykem::ckks::cuda
