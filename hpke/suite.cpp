// SPDX-License-Identifier: Apache-2.0
#include "hpke/suite.hpp"

#include <algorithm>

#include "hpke/kem.hpp"
#include "hpke/openssl.hpp"

namespace polykem::hpke {
namespace {

template <class Info, class Id>
const Info* find(const std::vector<Info>& list, Id id, const char* what) {
  const auto at = std::find_if(list.begin(), list.end(), [id](const Info& info) { return info.id == id; });
  if (at == list.end()) throw Error(POLYKEM_ERR_ARGUMENT, what);
  return &*at;
}

CipherPtr fetch_cipher(const char* name) {
  CipherPtr cipher(EVP_CIPHER_fetch(nullptr, name, nullptr));
  if (!cipher) throw Error(POLYKEM_ERR_BACKEND_UNAVAILABLE, name);
  return cipher;
}

}  // namespace

const std::vector<KemInfo>& kems() {
  static const std::vector<KemInfo> list = {
      {Kem::kDhkemX25519, "DHKEM(X25519, HKDF-SHA256)", "X25519", dhkem_x25519},
      {Kem::kMlKem512, "ML-KEM-512", {}, parameter_set_kem},
      {Kem::kMlKem768, "ML-KEM-768", {}, parameter_set_kem},
      {Kem::kMlKem1024, "ML-KEM-1024", {}, parameter_set_kem},
      {Kem::kMlKem768P256, "MLKEM768-P256", {}, parameter_set_kem},
      {Kem::kMlKem1024P384, "MLKEM1024-P384", {}, parameter_set_kem},
      {Kem::kMlKem768X25519, "MLKEM768-X25519", "X-Wing", parameter_set_kem},
  };
  return list;
}

const std::vector<KdfInfo>& kdfs() {
  static const std::vector<KdfInfo> list = {
      {Kdf::kHkdfSha256, "HKDF-SHA256", "SHA256", 32, 64},  {Kdf::kHkdfSha384, "HKDF-SHA384", "SHA384", 48, 128},
      {Kdf::kHkdfSha512, "HKDF-SHA512", "SHA512", 64, 128}, {Kdf::kShake128, "SHAKE128", "SHAKE128", 32, 0},
      {Kdf::kShake256, "SHAKE256", "SHAKE256", 64, 0},
  };
  return list;
}

const std::vector<AeadInfo>& aeads() {
  static const std::vector<AeadInfo> list = {
      {Aead::kAes128Gcm, "AES-128-GCM", "AES-128-GCM", 16},
      {Aead::kAes256Gcm, "AES-256-GCM", "AES-256-GCM", 32},
      {Aead::kChaCha20Poly1305, "ChaCha20Poly1305", "ChaCha20-Poly1305", 32},
      {Aead::kExportOnly, "Export-only", nullptr, 0},
  };
  return list;
}

Suite::Suite(Kem kem, Kdf kdf, Aead aead)
    : kem_(find(kems(), kem, "unknown KEM number of HPKE")),
      kdf_(find(kdfs(), kdf, "unknown KDF number of HPKE")),
      aead_(find(aeads(), aead, "unknown AEAD number of HPKE")) {
  const ErrorMark mark;
  kem_functions_ = kem_->functions(*kem_);
  kem_sizes_ = kem_functions_->sizes();
  auto fetched = std::make_shared<Algorithms>();
  fetched->kdf = fetch_digest(kdf_->digest);
  if (aead_->cipher) fetched->aead = fetch_cipher(aead_->cipher);
  algorithms_ = std::move(fetched);
}

}  // namespace polykem::hpke
