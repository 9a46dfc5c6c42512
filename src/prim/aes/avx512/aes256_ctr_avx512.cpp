// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes256_ctr.hpp"

#include <cstring>

#include "core/secure.hpp"
#include "prim/aes/avx512/ctr256.hpp"

namespace polykem {

namespace {

constexpr size_t kRegisters = 8;
constexpr size_t kBytesAtOnce = kRegisters * sizeof(__m512i);

}  // namespace

void aes256_ctr_avx512(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                       uint64_t counter) {
  __m128i keys[aes::kRoundKeys];
  aes::expand_key(keys, key);
  __m512i counters = aes::first_counters(nonce, counter);
  for (; length >= kBytesAtOnce; length -= kBytesAtOnce, out += kBytesAtOnce) {
    aes::keystream_blocks<kRegisters>(out, keys, counters);
    counters = aes::later_counters(counters, kRegisters);
  }
  if (length > 0) {
    uint8_t last[kBytesAtOnce];
    if (length <= sizeof(__m512i)) {
      aes::keystream_blocks<1>(last, keys, counters);
    } else {
      aes::keystream_blocks<kRegisters>(last, keys, counters);
    }
    std::memcpy(out, last, length);
    zeroize(last, sizeof last);
  }
  zeroize(keys, sizeof keys);
}

}  // namespace polykem
