// SPDX-License-Identifier: Apache-2.0
// Encrypted private keys: EncryptedPrivateKeyInfo [RFC5958, 3], decrypted by libcrypto.
#pragma once

#include <polykem/polykem.hpp>

#include <cstdint>

namespace polykem::cli {

/// Rounds of PBKDF2, or scrypt's N r p: some ten seconds.
inline constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 24;

/// The OneAsymmetricKey inside `der`, by any scheme for passphrases that libcrypto's default provider has: PBES2 with
/// PBKDF2 or scrypt, and PKCS #12's. Throws FormatError if the passphrase is wrong, the scheme unknown, or the key says
/// that it takes more work than most_work.
SecretBytes decrypted_key(ByteView der, ByteView passphrase, std::uint64_t most_work = kMaxWork);

}  // namespace polykem::cli
