// SPDX-License-Identifier: Apache-2.0
#include "classical.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace polykem::provider {

namespace {

template <std::size_t kBytes>
using Coordinate = std::array<std::uint8_t, kBytes>;  // little-endian

template <std::size_t kBytes>
constexpr Coordinate<kBytes> plus(Coordinate<kBytes> a, int addend) {
  for (std::uint8_t& byte : a) {
    addend += byte;
    byte = static_cast<std::uint8_t>(addend & 0xFF);
    addend >>= 8;
  }
  return a;
}

constexpr Coordinate<32> kP25519 = [] {  // 2^255 - 19
  Coordinate<32> p{};
  p.back() = 0x80;
  return plus(p, -19);
}();
constexpr Coordinate<56> kP448 = [] {  // 2^448 - 2^224 - 1
  Coordinate<56> p{};
  std::fill(p.begin() + 28, p.end(), 0xFF);
  return plus(p, -1);
}();

/// The points u whose multiples by a private key are zero [RFC7748, 6]: 0, 1 and -1, also in their encodings from p on;
/// for X25519 also those of order 8.
template <std::size_t kBytes>
bool is_0_or_1_or_minus_1(const Coordinate<kBytes>& u, const Coordinate<kBytes>& p) {
  constexpr Coordinate<kBytes> kZero{};
  return u == kZero || u == plus(kZero, 1) || u == plus(p, -1) || u == p || u == plus(p, 1);
}

constexpr Coordinate<32> kOrder8[] = {
    {0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F, 0xC4, 0x6A,
     0xDA, 0x09, 0x8D, 0xEB, 0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16, 0x5F, 0x49, 0xB8, 0x00},
    {0x5F, 0x9C, 0x95, 0xBC, 0xA3, 0x50, 0x8C, 0x24, 0xB1, 0xD0, 0xB1, 0x55, 0x9C, 0x83, 0xEF, 0x5B,
     0x04, 0x44, 0x5C, 0xC4, 0x58, 0x1C, 0x8E, 0x86, 0xD8, 0x22, 0x4E, 0xDD, 0xD0, 0x9F, 0x11, 0x57},
};

bool has_small_order(ByteView share) {
  if (share.size() == kP448.size()) {
    Coordinate<56> u;
    std::copy_n(share.data(), u.size(), u.begin());
    return is_0_or_1_or_minus_1(u, kP448);
  }
  Coordinate<32> u;
  std::copy_n(share.data(), u.size(), u.begin());
  u.back() &= 0x7F;  // the highest bit is ignored
  return is_0_or_1_or_minus_1(u, kP25519) || u == kOrder8[0] || u == kOrder8[1];
}

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
  if (classical.group == nullptr) {
    if (has_small_order(share)) return nullptr;
    return PkeyPtr(EVP_PKEY_new_raw_public_key_ex(library, classical.algorithm, nullptr, share.data(), share.size()));
  }
  // Other encodings of a point are shorter or, if the first byte is 6 or 7, not allowed in TLS.
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
  // The peer's point was checked when it was parsed, and the curves' orders are prime.
  return context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
         EVP_PKEY_derive_set_peer_ex(context.get(), peer, 0) == 1 && EVP_PKEY_derive(context.get(), out, &bytes) == 1 &&
         bytes == classical.secret_bytes;
}

}  // namespace polykem::provider
