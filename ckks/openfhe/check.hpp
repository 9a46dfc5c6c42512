// SPDX-License-Identifier: Apache-2.0
// Checks that objects are as objects.hpp demands. Failures throw FormatError, which names the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ckks/openfhe/objects.hpp"

namespace polykem::openfhe {

/// Limits far beyond any use. They bound what a reader allocates.
inline constexpr std::size_t kMaxModuli = 256;
inline constexpr std::size_t kMaxParts = 3;
inline constexpr std::size_t kMaxDigits = 4096;
inline constexpr std::size_t kMaxKeyTags = 1024;
inline constexpr std::size_t kMaxKeysOfTag = 64;
inline constexpr std::uint32_t kMinDimension = 4;
inline constexpr std::uint32_t kMaxDimension = std::uint32_t{1} << 17;
inline constexpr std::size_t kMaxTagBytes = 256;

using Moduli = std::vector<Modulus>;
Moduli moduli_of(const Polynomial& polynomial);

/// Returns true for powers of two from kMinDimension to kMaxDimension.
bool is_ring_dimension(std::uint32_t n);

void check(const Context& context);
void check(const PublicKey& key);
void check(const SecretKey& key);
void check(const Ciphertext& ciphertext);
void check(const RelinearisationKeys& keys);
void check(const AutomorphismKeys& keys);

}  // namespace polykem::openfhe
