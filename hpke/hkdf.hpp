// SPDX-License-Identifier: Apache-2.0
// HMAC, and the inputs of HPKE's labelled functions [HPKE, 4.4].
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

/// The input keying material of LabeledExtract.
SecretBytes extract_message(const Bytes& suite_id, std::string_view label, ByteView ikm);
/// The info of LabeledExpand, without the counters of HKDF's blocks.
Bytes expand_message(const Bytes& suite_id, std::string_view label, ByteView context, std::size_t bytes);

/// An initialised digest context. Throws Error.
DigestContextPtr digest_context(const EVP_MD* digest);

/// HMAC [RFC2104] with a KDF's hash, for which `digest` is set up. No key here is longer than a block. room: a buffer
/// that grows as needed. Returns false if OpenSSL failed.
bool hmac(const KdfInfo& kdf, EVP_MD_CTX* digest, SecretBytes& room, ByteView key, ByteView message, std::uint8_t* out);

}  // namespace polykem::hpke
