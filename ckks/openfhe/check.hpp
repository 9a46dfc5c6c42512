// SPDX-License-Identifier: Apache-2.0
// Whether objects are what objects.hpp demands. What fails throws FormatError, which names the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ckks/openfhe/objects.hpp"

namespace polykem::openfhe {

/** Far beyond what anybody uses; they bound what a reader allocates. */
inline constexpr std::size_t kMostModuli = 256;
inline constexpr std::size_t kMostParts = 3;
inline constexpr std::size_t kMostDigits = 4096;
inline constexpr std::size_t kMostKeyTags = 1024;
inline constexpr std::size_t kMostKeysOfTag = 64;
inline constexpr std::uint32_t kLeastDimension = 4;
inline constexpr std::uint32_t kMostDimension = std::uint32_t{1} << 17;
inline constexpr std::size_t kMostTagBytes = 256;

using Moduli = std::vector<Modulus>;
Moduli moduli_of(const Polynomial& polynomial);

/** True for a power of two, kLeastDimension to kMostDimension. */
bool is_ring_dimension(std::uint32_t n);

void check(const Context& context);
void check(const PublicKey& key);
void check(const SecretKey& key);
void check(const Ciphertext& ciphertext);
void check(const RelinearisationKeys& keys);
void check(const AutomorphismKeys& keys);

}  // namespace polykem::openfhe
