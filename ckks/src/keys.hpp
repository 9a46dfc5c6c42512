// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"
#include "prim/drbg/drbg.hpp"

namespace polykem::ckks {

// Keys and ciphertexts of users, on the CPU. Secrets are uniform in {-1, 0, 1}; errors follow the centred binomial
// distribution of 42 bits, with standard deviation 3.24. Nothing here branches on secrets. Without entropy the
// functions throw Error(random).

SecretKey make_secret_key(const Context& context, Drbg& drbg);
/// Makes a key from residues modulo q_0 in the form that a transform leaves, which is what another library's secret key
/// holds. Throws Error(residues) if it is not ternary.
SecretKey secret_key_from_row(const Context& context, const uint64_t* row);
PublicKey make_public_key(const Context& context, const SecretKey& secret, Drbg& drbg);

/// Makes the key of relinearise().
SwitchingKey make_relinearisation_key(const Context& context, const SecretKey& secret, Drbg& drbg);
/// Makes the key of automorphism() with this g.
SwitchingKey make_automorphism_key(const Context& context, const SecretKey& secret, uint64_t g, Drbg& drbg);

Ciphertexts encrypt(const Context& context, const PublicKey& key, const Plaintexts& messages, Drbg& drbg);
/// Decrypts ciphertexts of two or three parts.
Plaintexts decrypt(const Context& context, const SecretKey& secret, const Ciphertexts& ciphertexts);

}  // namespace polykem::ckks
