// SPDX-License-Identifier: Apache-2.0
// Encapsulates to an arbitrary public key with arbitrary coins: no crash, and the same result alone and in a batch.
#include <algorithm>

#include "common.hpp"

using namespace polykem;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Scheme scheme = fuzz::choose_scheme(*data++);
  size_t left = size - 1;
  const Bytes pk = fuzz::take(data, left, scheme.public_key_bytes());
  const Bytes coins = fuzz::take(data, left, scheme.info().encaps_coin_bytes);
  const auto one = fuzz::context().encaps(scheme, 1, KeyMode::kShared, pk, coins);
  Bytes twice = coins;
  twice.insert(twice.end(), coins.begin(), coins.end());
  const auto two = fuzz::context().encaps(scheme, 2, KeyMode::kShared, pk, twice);
  fuzz::require(std::equal(one.ct.begin(), one.ct.end(), two.ct.begin() + static_cast<long>(one.ct.size())),
                "item 1 of a batch has the ciphertext that it has alone");
  fuzz::require(std::equal(one.ss.begin(), one.ss.end(), two.ss.begin() + static_cast<long>(one.ss.size())),
                "item 1 of a batch has the secret that it has alone");
  return 0;
}
