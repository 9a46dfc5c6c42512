// SPDX-License-Identifier: Apache-2.0
// HMAC, and what HPKE's labelled functions hash [HPKE, 4.4].
#pragma once

#include "hpke/openssl.hpp"
#include "hpke/suite.hpp"

namespace polykem::hpke {

inline constexpr std::string_view kVersion = "HPKE-v1";

void add(auto& to, std::string_view text) {
  to.insert(to.end(), text.begin(), text.end());
}
void add(auto& to, ByteView bytes) {
  to.insert(to.end(), bytes.data(), bytes.data() + bytes.size());
}
void add_number(auto& to, std::size_t value) {  // I2OSP(value, 2)
  to.push_back(static_cast<std::uint8_t>(value >> 8));
  to.push_back(static_cast<std::uint8_t>(value));
}

/// What LabeledExtract extracts from.
SecretBytes extract_message(const Bytes& suite_id, std::string_view label, ByteView ikm);
/// What LabeledExpand expands a secret with, without the counters of HKDF's blocks.
Bytes expand_message(const Bytes& suite_id, std::string_view label, ByteView context, std::size_t bytes);

/// A digest's context, initialised. Throws Error.
DigestContextPtr digest_context(const EVP_MD* digest);

/// HMAC [RFC2104] with a KDF's hash, which `digest` has; no key here is longer than a block. `room` is used on the way
/// and grows. False: OpenSSL failed.
bool hmac(const KdfInfo& kdf, EVP_MD_CTX* digest, SecretBytes& room, ByteView key, ByteView message, std::uint8_t* out);

}  // namespace polykem::hpke
