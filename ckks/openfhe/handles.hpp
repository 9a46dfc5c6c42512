// SPDX-License-Identifier: Apache-2.0
// Converts the objects of a file to those of polykem/ckks.h. Files are untrusted, so everything is compared with the
// context first, row by row.
#pragma once

#include <polykem/ckks.h>

#include "ckks/openfhe/check.hpp"
#include "ckks/openfhe/objects.hpp"

namespace polykem::openfhe {

/// Returns the special moduli of key switching, which only keys list, after those of the context.
Moduli special_moduli(const SwitchingKey& key);

/// Returns the number of digits into which residues are decomposed: context.digits, or fewer if the moduli do not fill
/// them.
unsigned digits_of(const Context& context);

/// Makes the context of a file, with the special moduli of keys.
polykem_ckks_status make(const Context& from, const Moduli& special, unsigned threads, bool allow_insecure,
                         polykem_ckks_context** out);

/// Throw FormatError unless the object has the ring dimension, the moduli, the roots and the number of rows of
/// `context`; otherwise return the status of polykem_ckks_..._new.
polykem_ckks_status make(const Ciphertext& from, const polykem_ckks_context* context, polykem_ckks_ciphertexts** out);
polykem_ckks_status make(const PublicKey& from, const polykem_ckks_context* context, polykem_ckks_public_key** out);
polykem_ckks_status make(const SecretKey& from, const polykem_ckks_context* context, polykem_ckks_secret_key** out);
polykem_ckks_status make(const SwitchingKey& from, const polykem_ckks_context* context,
                         polykem_ckks_switching_key** out);

/// The words of an object of polykem/ckks.h that are still to be read.
struct Words {
  const std::uint64_t* at;
  std::size_t left;
};
/// Takes the rows of a polynomial, n words for each of the first `towers` moduli. Throws FormatError if too few are
/// left.
Polynomial take_polynomial(Words& words, std::uint32_t n, const Moduli& moduli, std::size_t towers);

}  // namespace polykem::openfhe
