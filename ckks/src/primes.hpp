// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace polykem::ckks {

/// Bits of the smallest and the largest prime that the arithmetic takes.
inline constexpr unsigned kMinPrimeBits = 14, kMaxPrimeBits = 60;

/// Deterministic for every 64-bit number [SINCLAIR11].
bool is_prime(uint64_t n);

/// The `count` primes q = 1 mod 2N that are nearest to 2^bits from alternating sides, so that products of them stay
/// near powers of 2^bits; none of `taken`. Fewer where there are no more.
std::vector<uint64_t> find_primes(unsigned log_n, unsigned bits, size_t count, const std::vector<uint64_t>& taken);

/// The least primitive 2N-th root of unity modulo a prime q = 1 mod 2N.
uint64_t least_root(unsigned log_n, uint64_t q);

/// root^N = -1 mod q.
bool is_root(unsigned log_n, uint64_t q, uint64_t root);

}  // namespace polykem::ckks
