// SPDX-License-Identifier: Apache-2.0
// Decrypts private keys, EncryptedPrivateKeyInfo [RFC5958, 3], by libcrypto.
#pragma once

#include <polykem/polykem.hpp>

#include <cstdint>

namespace polykem::cli {

/// The most rounds of PBKDF2, or N r p of scrypt, which take about ten seconds.
inline constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 24;

/// Decrypts the OneAsymmetricKey in `der`. Supports the password-based schemes of libcrypto's default provider: PBES2
/// with PBKDF2 or scrypt, and those of PKCS #12. Throws FormatError if the passphrase is wrong, the scheme is unknown,
/// or the key demands more work than max_work.
SecretBytes decrypted_key(ByteView der, ByteView passphrase, std::uint64_t max_work = kMaxWork);

}  // namespace polykem::cli
