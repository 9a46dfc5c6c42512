// SPDX-License-Identifier: Apache-2.0
#include "net/confirm.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <stdexcept>
#include <string_view>

namespace polykem::cli::net {
namespace {

constexpr std::string_view kClientLabel = "polykem exchange v1, client confirms";
constexpr std::string_view kServerLabel = "polykem exchange v1, server confirms";

void require(bool ok) {
  if (!ok) throw std::runtime_error("libcrypto refused SHA-256; check the OpenSSL installation");
}

}  // namespace

Transcript::Transcript() : hash_(EVP_MD_CTX_new()) {
  require(hash_ != nullptr && EVP_DigestInit_ex(hash_, EVP_sha256(), nullptr) == 1);
}

Transcript::~Transcript() {
  EVP_MD_CTX_free(hash_);
}

void Transcript::add(ByteView frame) {
  require(EVP_DigestUpdate(hash_, frame.data(), frame.size()) == 1);
}

Tag Transcript::digest() {
  Tag out;
  require(EVP_DigestFinal_ex(hash_, out.data(), nullptr) == 1);
  return out;
}

Tag confirm_tag(ByteView secret, Side side, const Tag& transcript_hash) {
  const std::string_view label = side == Side::kClient ? kClientLabel : kServerLabel;
  Bytes message(label.begin(), label.end());
  message.insert(message.end(), transcript_hash.begin(), transcript_hash.end());
  Tag tag;
  unsigned int size = 0;
  require(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), message.data(), message.size(), tag.data(),
               &size) != nullptr &&
          size == kTagBytes);
  return tag;
}

bool equal_tags(ByteView a, ByteView b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace polykem::cli::net
