// SPDX-License-Identifier: Apache-2.0
// Which blocks of ChaCha20's keystream random bytes are. Device code, the host that makes keys, and tests compile it.
#pragma once

#include <cstdint>

#include "prim/drbg/cuda/chacha20.hpp"

namespace polykem::cuda {

/// What takes the bytes: an operation, or the seed of a part of a batch, whose "item" is its first one. It separates
/// the streams of one seed.
enum class CoinDomain : uint8_t { kKeygen = 0, kEncaps = 1, kSign = 2, kPart = 3 };

/// Makes block `block` of an item: the key is the seed, the counter is `block`, the nonce is the item and the domain.
constexpr void make_coin_block(uint32_t (&words)[kChaChaWords], const uint32_t* seed, CoinDomain domain, uint64_t item,
                               uint32_t block) {
  chacha20_block(words, seed, block, static_cast<uint32_t>(item), static_cast<uint32_t>(item >> 32),
                 static_cast<uint32_t>(domain));
}

}  // namespace polykem::cuda
