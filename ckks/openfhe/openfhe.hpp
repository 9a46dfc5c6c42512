// SPDX-License-Identifier: Apache-2.0
// Reads what OpenFHE 1.6.1's functions Serialize... write for CKKS, in JSON and in its portable binary form, and writes
// files that OpenFHE reads. An unchanged object is written as the bytes from which it was read, except that in JSON a
// fraction may have another last digit that means the same number.
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
/// SecretKey, Ciphertext, RelinearisationKeys or AutomorphismKeys. Everything that objects.hpp states of T then holds,
/// except that moduli are not proved to be primes. Throws FormatError, whose text names the place. It uses
/// at most a small multiple of the bytes read, with one copy of the residues.
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
