// SPDX-License-Identifier: Apache-2.0
// Files of OpenFHE 1.6.1 for CKKS: what its functions Serialize... write, in JSON and in its portable binary form, is
// read, and what is written here they accept. An unchanged object is written as the bytes it was read from, except
// that in JSON a fraction may end in another digit that means the same number.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <span>

#include "ckks/openfhe/error.hpp"
#include "ckks/openfhe/objects.hpp"
#include "ckks/openfhe/secret_bytes.hpp"

namespace polykem::openfhe {

enum class Form { kJson, kBinary };

/// Reads a file that holds an object of type T and nothing else; its form is recognised. T is Context, PublicKey,
/// SecretKey, Ciphertext, RelinearisationKeys or AutomorphismKeys. All that objects.hpp says of T holds afterwards,
/// except that moduli are not proved to be primes. Throws FormatError, whose text names the place. Memory is at most a
/// small multiple of what was read, and of the residues one copy.
template <class T>
T read(std::istream& in);
template <class T>
T read(std::span<const std::uint8_t> bytes);

/// Throws FormatError if the object is not what objects.hpp demands, and std::ios_base::failure if `out` fails.
template <class T>
void write(std::ostream& out, const T& object, Form form);
template <class T>
SecretBytes write(const T& object, Form form);

}  // namespace polykem::openfhe
