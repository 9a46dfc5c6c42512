// SPDX-License-Identifier: Apache-2.0
#include "classical.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>

namespace polykem::provider {

namespace {

struct PkeyContextFree {
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using PkeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, PkeyContextFree>;

PkeyPtr ec_from_share(OSSL_LIB_CTX* library, const Classical& classical, ByteView share) {
  const PkeyContextPtr context(EVP_PKEY_CTX_new_from_name(library, classical.algorithm, nullptr));
  EVP_PKEY* key = nullptr;
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, const_cast<char*>(classical.group), 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, const_cast<std::uint8_t*>(share.data()), share.size()),
      OSSL_PARAM_construct_end()};
  if (context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
    return nullptr;
  return PkeyPtr(key);
}

}  // namespace

PkeyPtr generate_classical(OSSL_LIB_CTX* library, const Classical& classical) {
  const PkeyContextPtr context(EVP_PKEY_CTX_new_from_name(library, classical.algorithm, nullptr));
  EVP_PKEY* key = nullptr;
  if (context == nullptr || EVP_PKEY_keygen_init(context.get()) != 1) return nullptr;
  if (classical.group != nullptr && EVP_PKEY_CTX_set_group_name(context.get(), classical.group) != 1) return nullptr;
  if (EVP_PKEY_keygen(context.get(), &key) != 1) return nullptr;
  return PkeyPtr(key);
}

PkeyPtr classical_from_share(OSSL_LIB_CTX* library, const Classical& classical, ByteView share) {
  if (share.size() != classical.share_bytes) return nullptr;
  if (classical.group == nullptr)
    return PkeyPtr(EVP_PKEY_new_raw_public_key_ex(library, classical.algorithm, nullptr, share.data(), share.size()));
  // The other encodings of a point are shorter or, with the first byte 6 or 7, not allowed in TLS.
  return share.data()[0] == 4 ? ec_from_share(library, classical, share) : nullptr;
}

bool write_share(const Classical& classical, EVP_PKEY* key, std::uint8_t* out) {
  unsigned char* share = nullptr;
  const std::size_t bytes = EVP_PKEY_get1_encoded_public_key(key, &share);
  const bool right = bytes == classical.share_bytes;
  if (right) std::memcpy(out, share, bytes);
  OPENSSL_free(share);
  return right;
}

bool derive_classical(OSSL_LIB_CTX* library, const Classical& classical, EVP_PKEY* own, EVP_PKEY* peer,
                      std::uint8_t* out) {
  const PkeyContextPtr context(EVP_PKEY_CTX_new_from_pkey(library, own, nullptr));
  std::size_t bytes = classical.secret_bytes;
  // The peer's point was checked when it was read, and the curves' orders are prime.
  return context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
         EVP_PKEY_derive_set_peer_ex(context.get(), peer, 0) == 1 && EVP_PKEY_derive(context.get(), out, &bytes) == 1 &&
         bytes == classical.secret_bytes;
}

}  // namespace polykem::provider
