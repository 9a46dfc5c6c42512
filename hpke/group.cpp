// SPDX-License-Identifier: Apache-2.0
#include "hpke/group.hpp"

#include <cstring>

#include "hpke/openssl.hpp"

namespace polykem::hpke {
namespace {

/// An allocation failed: the first or the last error says so, since OpenSSL may go on after it.
bool lacked_memory() {
  return ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE ||
         ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE;
}

class X25519Group final : public Group {
 public:
  Outcome scalar(const std::uint8_t* seed, std::uint8_t* scalar) override {
    std::memcpy(scalar, seed, kBytes);
    return Outcome::kDone;
  }

  Outcome public_point(const std::uint8_t* scalar, std::uint8_t* point) override {
    std::size_t bytes = kBytes;
    const EVP_PKEY* key = own_key(scalar);
    return done_if(key && EVP_PKEY_get_raw_public_key(key, point, &bytes) == 1);
  }

  Outcome shared_secret(const std::uint8_t* scalar, const std::uint8_t* peer, std::uint8_t* out) override {
    EVP_PKEY* own = own_key(scalar);
    const KeyPtr other(EVP_PKEY_new_raw_public_key_ex(nullptr, "X25519", nullptr, peer, kBytes));
    if (!own || !other) return Outcome::kFailed;
    const KeyContextPtr context(EVP_PKEY_CTX_new_from_pkey(nullptr, own, nullptr));
    const bool ready = context && EVP_PKEY_derive_init(context.get()) == 1 &&
                       EVP_PKEY_derive_set_peer_ex(context.get(), other.get(), 0) == 1;
    if (!ready) return Outcome::kFailed;
    std::size_t bytes = kBytes;
    if (EVP_PKEY_derive(context.get(), out, &bytes) == 1) return Outcome::kDone;
    return lacked_memory() ? Outcome::kFailed : Outcome::kMalformed;
  }

 private:
  static constexpr std::size_t kBytes = 32;

  /// OpenSSL computes the public key with it, so it is kept: callers ask for both with the same scalar.
  EVP_PKEY* own_key(const std::uint8_t* scalar) {
    if (own_ && CRYPTO_memcmp(scalar, own_scalar_.data(), kBytes) == 0) return own_.get();
    own_.reset(EVP_PKEY_new_raw_private_key_ex(nullptr, "X25519", nullptr, scalar, kBytes));
    own_scalar_.assign(scalar, scalar + kBytes);
    return own_.get();
  }

  KeyPtr own_;
  SecretBytes own_scalar_;
};

class NistGroup final : public Group {
 public:
  NistGroup(const EC_GROUP* group, const KemInfo& kem)
      : group_(group),
        kem_(kem),
        numbers_(BN_CTX_new()),
        scalar_(BN_new()),
        x_(BN_new()),
        peer_(EC_POINT_new(group)),
        product_(EC_POINT_new(group)) {
    if (!numbers_ || !scalar_ || !x_ || !peer_ || !product_) throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "elliptic curve");
  }

  Outcome scalar(const std::uint8_t* seed, std::uint8_t* scalar) override {
    for (std::size_t at = 0; at + kem_.scalar_bytes <= kem_.seed_bytes; at += kem_.scalar_bytes) {
      const Outcome candidate = read_scalar(seed + at);
      if (candidate == Outcome::kMalformed) continue;
      std::memcpy(scalar, seed + at, kem_.scalar_bytes);
      return candidate;
    }
    return Outcome::kMalformed;
  }

  Outcome public_point(const std::uint8_t* scalar, std::uint8_t* point) override {
    const Outcome read = read_scalar(scalar);
    if (read != Outcome::kDone) return read;
    return done_if(EC_POINT_mul(group_, product_.get(), scalar_.get(), nullptr, nullptr, numbers_.get()) == 1 &&
                   EC_POINT_point2oct(group_, product_.get(), POINT_CONVERSION_UNCOMPRESSED, point, kem_.point_bytes,
                                      numbers_.get()) == kem_.point_bytes);
  }

  Outcome shared_secret(const std::uint8_t* scalar, const std::uint8_t* peer, std::uint8_t* out) override {
    // The first byte says that the point is uncompressed; OpenSSL would also read the hybrid form.
    if (peer[0] != POINT_CONVERSION_UNCOMPRESSED) return Outcome::kMalformed;
    if (EC_POINT_oct2point(group_, peer_.get(), peer, kem_.point_bytes, numbers_.get()) != 1)
      return is_no_point() ? Outcome::kMalformed : Outcome::kFailed;
    const Outcome read = read_scalar(scalar);
    if (read != Outcome::kDone) return read;
    return done_if(EC_POINT_mul(group_, product_.get(), nullptr, peer_.get(), scalar_.get(), numbers_.get()) == 1 &&
                   EC_POINT_get_affine_coordinates(group_, product_.get(), x_.get(), nullptr, numbers_.get()) == 1 &&
                   BN_bn2binpad(x_.get(), out, static_cast<int>(kem_.scalar_bytes)) ==
                       static_cast<int>(kem_.scalar_bytes));
  }

 private:
  /// From 1 to the order - 1.
  Outcome read_scalar(const std::uint8_t* bytes) {
    BN_set_flags(scalar_.get(), BN_FLG_CONSTTIME);
    if (!BN_bin2bn(bytes, static_cast<int>(kem_.scalar_bytes), scalar_.get())) return Outcome::kFailed;
    const bool in_range = !BN_is_zero(scalar_.get()) && BN_cmp(scalar_.get(), EC_GROUP_get0_order(group_)) < 0;
    return in_range ? Outcome::kDone : Outcome::kMalformed;
  }

  /// Why OpenSSL did not take the bytes of a point.
  static bool is_no_point() {
    const unsigned long error = ERR_peek_last_error();
    const int reason = ERR_GET_REASON(error);
    return ERR_GET_LIB(error) == ERR_LIB_EC && !lacked_memory() &&
           (reason == EC_R_INVALID_ENCODING || reason == EC_R_POINT_IS_NOT_ON_CURVE);
  }

  const EC_GROUP* group_;
  const KemInfo& kem_;
  NumberContextPtr numbers_;
  NumberPtr scalar_, x_;
  PointPtr peer_, product_;
};

}  // namespace

std::unique_ptr<Group> make_group(const Suite& suite) {
  switch (suite.kem().curve) {
    case Curve::kNone:
      return nullptr;
    case Curve::kX25519:
      return std::make_unique<X25519Group>();
    case Curve::kP256:
    case Curve::kP384:
      return std::make_unique<NistGroup>(suite.algorithms().group.get(), suite.kem());
  }
  return nullptr;
}

}  // namespace polykem::hpke
