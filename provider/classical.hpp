// SPDX-License-Identifier: Apache-2.0
// The classical part of a hybrid, computed by libcrypto. On failure, functions return nothing or false, and libcrypto
// has raised an error.
#pragma once

#include <openssl/evp.h>

#include <memory>

#include "algorithms.hpp"

namespace polykem::provider {

struct PkeyFree {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using PkeyPtr = std::unique_ptr<EVP_PKEY, PkeyFree>;

PkeyPtr generate_classical(OSSL_LIB_CTX* library, const Classical& classical);

/// Parses a share. Accepts only points on the curve that are not of small order.
PkeyPtr classical_from_share(OSSL_LIB_CTX* library, const Classical& classical, ByteView share);

/// Writes share_bytes bytes.
bool write_share(const Classical& classical, EVP_PKEY* key, std::uint8_t* out);

/// Writes secret_bytes bytes.
bool derive_classical(OSSL_LIB_CTX* library, const Classical& classical, EVP_PKEY* own, EVP_PKEY* peer,
                      std::uint8_t* out);

}  // namespace polykem::provider
