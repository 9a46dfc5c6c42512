// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace polykem::ckks {

/// The bits of the smallest and of the largest prime that the arithmetic takes.
inline constexpr unsigned kMinPrimeBits = 14, kMaxPrimeBits = 60;

/// Returns whether n is a prime. Deterministic for every 64-bit number [SINCLAIR11].
bool is_prime(uint64_t n);

/// Returns the `count` primes q = 1 mod 2N that are nearest to 2^bits from alternating sides, so that products of them
/// stay near powers of 2^bits. None is one of `taken`. There are fewer where there are no more.
std::vector<uint64_t> find_primes(unsigned log_n, unsigned bits, size_t count, const std::vector<uint64_t>& taken);

/// Returns the least primitive 2N-th root of unity modulo a prime q = 1 mod 2N.
uint64_t min_root(unsigned log_n, uint64_t q);

/// Returns whether root^N = -1 mod q.
bool is_root(unsigned log_n, uint64_t q, uint64_t root);

}  // namespace polykem::ckks
