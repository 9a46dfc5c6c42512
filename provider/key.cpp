// SPDX-License-Identifier: Apache-2.0
#include "key.hpp"

#include <openssl/core_dispatch.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>

#include "formats/keys.hpp"

namespace polykem::provider {

namespace {

bool has_seed_form(const Scheme& scheme) {
  return scheme.info().secret_seed_bytes != 0;
}

/// True if every coefficient is below q [FIPS203, 7.2]. They have 12 bits each and precede the 32 bytes of rho.
bool is_reduced(ByteView ek) {
  constexpr int kQ = 3329;
  constexpr std::size_t kRhoBytes = 32;
  bool reduced = true;
  for (const std::uint8_t* p = ek.data(); p + kRhoBytes < ek.data() + ek.size(); p += 3)
    reduced = reduced && (p[0] | (p[1] & 0xF) << 8) < kQ && (p[1] >> 4 | p[2] << 4) < kQ;
  return reduced;
}

Bytes copy(ByteView bytes) {
  return {bytes.data(), bytes.data() + bytes.size()};
}

}  // namespace

Key* Key::up_ref() {
  references_.fetch_add(1, std::memory_order_relaxed);
  return this;
}

void Key::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Key* Key::duplicate(int selection) const {
  KeyPtr out(new Key(provider_, algorithm_));
  const bool with_private = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 && has_private();
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0) out->public_key_ = public_key_;
  if (with_private) {
    out->secret_key_ = secret_key_;
    out->seed_ = seed_;
  }
  if (classical_ == nullptr || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return out.release();
  if (with_private) {
    out->classical_.reset(EVP_PKEY_dup(classical_.get()));
  } else {
    Bytes share(algorithm_.classical->share_bytes);
    if (write_share(*algorithm_.classical, classical_.get(), share.data()))
      out->classical_ = classical_from_share(provider_.library.get(), *algorithm_.classical, share);
  }
  if (out->classical_ != nullptr) return out.release();
  provider_.errors.raise(Reason::kClassical, "%s: cannot copy the key", algorithm_.name.c_str());
  return nullptr;
}

Bytes Key::encoded_public_key() const {
  if (!algorithm_.is_hybrid() || !has_public()) return public_key_;
  Bytes out(algorithm_.public_key_bytes());
  std::copy(public_key_.begin(), public_key_.end(), out.data() + algorithm_.share_bytes());
  return write_share(*algorithm_.classical, classical_.get(), out.data()) ? out : Bytes();
}

bool Key::has_length(ByteView bytes, std::size_t expected, const char* what) const {
  if (bytes.size() == expected) return true;
  provider_.errors.raise(Reason::kLength, "%s: the %s has %zu bytes, expected %zu", algorithm_.name.c_str(), what,
                         bytes.size(), expected);
  return false;
}

/// A request with the key that the operation takes.
polykem_request Key::request(polykem_op op) const {
  polykem_request out = Context::request(op, algorithm_.scheme, 1);
  if (op == POLYKEM_ENCAPS || op == POLYKEM_VERIFY) out.pk = public_key_.data();
  if (op == POLYKEM_DECAPS || op == POLYKEM_SIGN) out.sk = secret_key_.data();
  return out;
}

bool Key::start(polykem_request& request, SecretBytes coins, Pending& out) const {
  const polykem_status status = provider_.compute->start(request, std::move(coins), out);
  if (status != POLYKEM_OK) provider_.errors.raise(status, algorithm_.name.c_str());
  return status == POLYKEM_OK;
}

bool Key::start_encapsulate(SecretBytes coins, Pending& out) const {
  polykem_request encaps = request(POLYKEM_ENCAPS);
  return start(encaps, std::move(coins), out);
}

bool Key::start_decapsulate(const std::uint8_t* ciphertext, Pending& out) const {
  polykem_request decaps = request(POLYKEM_DECAPS);
  decaps.ct = ciphertext;
  return start(decaps, {}, out);
}

bool Key::start_sign(const polykem_messages& message, SecretBytes coins, Pending& out) const {
  polykem_request sign = request(POLYKEM_SIGN);
  sign.messages = &message;
  return start(sign, std::move(coins), out);
}

bool Key::start_verify(const polykem_messages& message, const std::uint8_t* signature, Pending& out) const {
  polykem_request verify = request(POLYKEM_VERIFY);
  verify.messages = &message;
  verify.sig = signature;
  return start(verify, {}, out);
}

bool Key::finish(Pending& pending, std::uint8_t* public_out, std::uint8_t* secret_out) const {
  const polykem_status status = pending.finish(public_out, secret_out);
  if (status != POLYKEM_OK) provider_.errors.raise(status, algorithm_.name.c_str());
  return status == POLYKEM_OK;
}

/// A random seed for a set whose secret keys can be stored as seeds. For other sets the library makes the coins.
bool Key::make_seed(SecretBytes& out) const {
  if (!has_seed_form(algorithm_.scheme)) return true;
  out.resize(algorithm_.scheme.info().keygen_coin_bytes);
  if (RAND_priv_bytes_ex(provider_.library.get(), out.data(), out.size(), 0) == 1) return true;
  provider_.errors.raise(Reason::kRandom, "%s: cannot make a seed", algorithm_.name.c_str());
  return false;
}

bool Key::generate(SecretBytes coins) {
  const Scheme& scheme = algorithm_.scheme;
  if (coins.empty() ? !make_seed(coins) : !has_length(coins, scheme.info().keygen_coin_bytes, "seed")) return false;
  Pending pending;
  polykem_request keygen = request(POLYKEM_KEYGEN);
  if (!start(keygen, std::move(coins), pending)) return false;
  if (algorithm_.is_hybrid()) {
    pending.classical() = generate_classical(provider_.library.get(), *algorithm_.classical);
    if (pending.classical() == nullptr) {
      provider_.errors.raise(Reason::kClassical, "%s: cannot make the classical key", algorithm_.name.c_str());
      return false;
    }
  }
  pending.pause();
  Bytes public_key(scheme.public_key_bytes());
  SecretBytes secret_key(scheme.secret_key_bytes());
  if (!finish(pending, public_key.data(), secret_key.data())) return false;
  if (has_seed_form(scheme)) seed_.swap(pending.secrets());
  public_key_.swap(public_key);
  secret_key_.swap(secret_key);
  classical_ = std::move(pending.classical());
  return true;
}

bool Key::set_public_key(ByteView encoded) {
  if (!has_length(encoded, algorithm_.public_key_bytes(), "public key")) return false;
  const Scheme& scheme = algorithm_.scheme;
  const ByteView own(encoded.data() + algorithm_.share_bytes(), scheme.public_key_bytes());
  if (has_private() && has_public()) {
    if (same_bytes(encoded, encoded_public_key())) return true;
    provider_.errors.raise(Reason::kMismatch, "%s: the private key has another public key", algorithm_.name.c_str());
    return false;
  }
  const PublicKeyParts parts = public_key_parts(scheme);
  if (parts.ek_bytes != 0 && !is_reduced({own.data() + parts.ek_at, parts.ek_bytes})) {
    provider_.errors.raise(Reason::kPublicKey, "%s: a coefficient is not reduced", algorithm_.name.c_str());
    return false;
  }
  if (parts.curve != nullptr &&
      classical_from_share(provider_.library.get(), *parts.curve,
                           {own.data() + parts.point_at, parts.curve->share_bytes}) == nullptr) {
    provider_.errors.raise(Reason::kPublicKey, "%s: malformed classical share", algorithm_.name.c_str());
    return false;
  }
  PkeyPtr classical;
  if (algorithm_.is_hybrid()) {
    const ByteView share(encoded.data(), algorithm_.classical->share_bytes);
    classical = classical_from_share(provider_.library.get(), *algorithm_.classical, share);
    if (classical == nullptr) {
      provider_.errors.raise(Reason::kPublicKey, "%s: malformed classical share", algorithm_.name.c_str());
      return false;
    }
  }
  public_key_ = copy(own);
  classical_ = std::move(classical);
  return true;
}

/// Sets the public key of a secret key, if the secret key holds or determines it; otherwise empty. Returns false if its
/// parts do not belong together.
bool Key::public_key_inside(ByteView expanded, Bytes& out) const {
  out.resize(algorithm_.scheme.public_key_bytes());
  const polykem_status status = polykem_public_key_of(algorithm_.scheme.handle(), expanded.data(), out.data());
  if (status == POLYKEM_ERR_ARGUMENT) out.clear();
  if (status == POLYKEM_OK || status == POLYKEM_ERR_ARGUMENT) return true;
  provider_.errors.raise(status, algorithm_.name.c_str());
  return false;
}

bool Key::set_secret_key(ByteView expanded) {
  if (algorithm_.is_hybrid()) {
    provider_.errors.raise(Reason::kParameter, "%s: hybrids have no private format", algorithm_.name.c_str());
    return false;
  }
  if (!has_length(expanded, algorithm_.scheme.secret_key_bytes(), "private key")) return false;
  Bytes inside;
  if (!public_key_inside(expanded, inside)) return false;
  if ((has_private() && !same_bytes(secret_key_, expanded)) ||
      (!inside.empty() && has_public() && !same_bytes(public_key_, inside))) {
    provider_.errors.raise(Reason::kMismatch, "%s: private and public key differ", algorithm_.name.c_str());
    return false;
  }
  if (!inside.empty()) public_key_.swap(inside);
  secret_key_ = secret_copy(expanded);
  return true;
}

bool Key::set_seed(ByteView seed) {
  const std::size_t seed_bytes = algorithm_.is_hybrid() ? 0 : algorithm_.scheme.info().secret_seed_bytes;
  if (seed_bytes == 0) {
    provider_.errors.raise(Reason::kParameter, "%s has no private keys in the form of a seed", algorithm_.name.c_str());
    return false;
  }
  if (!has_length(seed, seed_bytes, "seed")) return false;
  const KeyPtr fresh(new Key(provider_, algorithm_));
  if (!fresh->generate(secret_copy(seed))) return false;
  if ((has_public() && !same_bytes(public_key_, fresh->public_key_)) ||
      (has_private() && !same_bytes(secret_key_, fresh->secret_key_))) {
    provider_.errors.raise(Reason::kMismatch, "%s: the seed gives another key", algorithm_.name.c_str());
    return false;
  }
  public_key_.swap(fresh->public_key_);
  secret_key_.swap(fresh->secret_key_);
  seed_.swap(fresh->seed_);
  return true;
}

bool Key::encapsulate(SecretBytes& ciphertext, SecretBytes& secret) const {
  ciphertext.resize(algorithm_.scheme.ciphertext_bytes());
  secret.resize(algorithm_.scheme.shared_secret_bytes());
  Pending pending;
  return start_encapsulate({}, pending) && finish(pending, ciphertext.data(), secret.data());
}

bool Key::decapsulate(ByteView ciphertext, SecretBytes& secret) const {
  secret.resize(algorithm_.scheme.shared_secret_bytes());
  Pending pending;
  return start_decapsulate(ciphertext.data(), pending) && finish(pending, nullptr, secret.data());
}

bool Key::check_public() const {
  if (algorithm_.signs() || public_key_parts(algorithm_.scheme).ek_bytes != 0) return true;
  SecretBytes ciphertext, secret;
  return encapsulate(ciphertext, secret);
}

bool Key::check_private() const {
  if (algorithm_.signs()) return true;
  const Bytes zeros(algorithm_.scheme.ciphertext_bytes());
  SecretBytes secret(algorithm_.scheme.shared_secret_bytes());
  Pending pending;
  if (!start_decapsulate(zeros.data(), pending)) return false;
  const polykem_status status = pending.finish(nullptr, secret.data());
  // Zeros are not a ciphertext of a hybrid, but that error shows that its key was read.
  if (status == POLYKEM_OK || status == POLYKEM_ERR_CIPHERTEXT) return true;
  provider_.errors.raise(status, algorithm_.name.c_str());
  return false;
}

bool Key::check_pair() const {
  if (algorithm_.signs()) {
    Bytes inside;
    if (!public_key_inside(secret_key_, inside)) return false;
    if (same_bytes(inside, public_key_)) return true;
    provider_.errors.raise(Reason::kMismatch, "%s: private and public key differ", algorithm_.name.c_str());
    return false;
  }
  SecretBytes ciphertext, secret, again;
  if (!encapsulate(ciphertext, secret) || !decapsulate(ciphertext, again)) return false;
  if (same_bytes(secret, again)) return true;
  provider_.errors.raise(Reason::kMismatch, "%s: private and public key differ", algorithm_.name.c_str());
  return false;
}

}  // namespace polykem::provider
