// SPDX-License-Identifier: Apache-2.0
// Encapsulation and decapsulation.
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <utility>

#include "key.hpp"
#include "tables.hpp"

namespace polykem::provider {

namespace {

constexpr const char* kIkme = "ikme";  // OSSL_KEM_PARAM_IKME of OpenSSL 3.2

struct KemContext {
  explicit KemContext(Provider& own) : provider(own) {}

  Provider& provider;
  KeyPtr key;
  SecretBytes coins;  ///< for the next encapsulation only, if set
};

KemContext& as_context(void* pointer) {
  return *static_cast<KemContext*>(pointer);
}

void* new_context(void* provider) {
  Provider& own = as_provider(provider);
  return guarded(own.errors, [&]() -> void* { return new KemContext(own); });
}

void free_context(void* context) {
  delete static_cast<KemContext*>(context);
}

void* duplicate_context(void* from) {
  KemContext& context = as_context(from);
  return guarded(context.provider.errors, [&]() -> void* {
    auto out = std::make_unique<KemContext>(context.provider);
    if (context.key != nullptr) out->key.reset(context.key->up_ref());
    out->coins = context.coins;
    return out.release();
  });
}

int set_params(void* data, const OSSL_PARAM params[]) {
  KemContext& context = as_context(data);
  const OSSL_PARAM* ikme = params == nullptr ? nullptr : OSSL_PARAM_locate_const(params, kIkme);
  if (ikme == nullptr) return 1;
  return guarded(context.provider.errors, [&]() -> int {
    const void* bytes = nullptr;
    std::size_t size = 0;
    const Algorithm& algorithm = context.key->algorithm();
    if (algorithm.is_hybrid()) {
      context.provider.errors.raise(Reason::kParameter, "%s: a hybrid takes no '%s'", algorithm.name.c_str(), kIkme);
      return 0;
    }
    const std::size_t expected = algorithm.scheme.info().encaps_coin_bytes;
    if (OSSL_PARAM_get_octet_string_ptr(ikme, &bytes, &size) != 1 || size != expected) {
      context.provider.errors.raise(Reason::kParameter, "%s: '%s' has %zu bytes, expected %zu", algorithm.name.c_str(),
                                    kIkme, size, expected);
      return 0;
    }
    const auto* begin = static_cast<const std::uint8_t*>(bytes);
    context.coins.assign(begin, begin + size);
    return 1;
  });
}

const OSSL_PARAM* settable_params(void* /*context*/, void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_octet_string(kIkme, nullptr, 0), OSSL_PARAM_END};
  return list;
}

int begin_encapsulate(void* data, void* key, const OSSL_PARAM params[]) {
  KemContext& context = as_context(data);
  if (!as_key(key).has_public()) {
    context.provider.errors.raise(Reason::kNoPublicKey, "%s", as_key(key).algorithm().name.c_str());
    return 0;
  }
  context.key.reset(as_key(key).up_ref());
  context.coins.clear();
  return set_params(data, params);
}

int begin_decapsulate(void* data, void* key, const OSSL_PARAM /*params*/[]) {
  KemContext& context = as_context(data);
  if (!as_key(key).has_private()) {
    context.provider.errors.raise(Reason::kNoPrivateKey, "%s", as_key(key).algorithm().name.c_str());
    return 0;
  }
  context.key.reset(as_key(key).up_ref());
  return 1;
}

/// Checks the size of a buffer, if the caller gives it. False with an error raised if the buffer is too small.
bool has_room(const Algorithm& algorithm, const Errors& errors, const char* what, std::size_t needed,
              const std::size_t* given) {
  if (given == nullptr || *given >= needed) return true;
  errors.raise(Reason::kLength, "%s: the buffer for the %s has %zu bytes, expected %zu", algorithm.name.c_str(), what,
               *given, needed);
  return false;
}

/// Makes an ephemeral classical key and agrees on a secret with the peer's share. Writes its own share and the secret.
bool encapsulate_classical(const Key& key, std::uint8_t* share, std::uint8_t* secret) {
  OSSL_LIB_CTX* library = key.provider().library.get();
  const Classical& classical = *key.algorithm().classical;
  const PkeyPtr ephemeral = generate_classical(library, classical);
  if (ephemeral != nullptr && write_share(classical, ephemeral.get(), share) &&
      derive_classical(library, classical, ephemeral.get(), key.classical(), secret))
    return true;
  key.provider().errors.raise(Reason::kClassical, "%s: cannot encapsulate to the peer's share",
                              key.algorithm().name.c_str());
  return false;
}

bool decapsulate_classical(const Key& key, ByteView share, std::uint8_t* secret) {
  OSSL_LIB_CTX* library = key.provider().library.get();
  const Classical& classical = *key.algorithm().classical;
  const PkeyPtr peer = classical_from_share(library, classical, share);
  if (peer != nullptr && derive_classical(library, classical, key.classical(), peer.get(), secret)) return true;
  key.provider().errors.raise(Reason::kClassical, "%s: cannot decapsulate the peer's share",
                              key.algorithm().name.c_str());
  return false;
}

/// Computes the classical part while the other part is in flight.
bool encapsulate(KemContext& context, std::uint8_t* ciphertext, std::uint8_t* secret) {
  const Key& key = *context.key;
  const Algorithm& algorithm = key.algorithm();
  Pending pending;
  return key.start_encapsulate(std::exchange(context.coins, {}), pending) &&
         (!algorithm.is_hybrid() || encapsulate_classical(key, ciphertext, secret)) &&
         key.finish(pending, ciphertext + algorithm.share_bytes(), secret + algorithm.classical_secret_bytes());
}

bool decapsulate(const Key& key, const std::uint8_t* ciphertext, std::uint8_t* secret) {
  const Algorithm& algorithm = key.algorithm();
  const std::size_t share_bytes = algorithm.share_bytes();
  Pending pending;
  return key.start_decapsulate(ciphertext + share_bytes, pending) &&
         (!algorithm.is_hybrid() || decapsulate_classical(key, {ciphertext, share_bytes}, secret)) &&
         key.finish(pending, nullptr, secret + algorithm.classical_secret_bytes());
}

int encapsulate_call(void* data, unsigned char* out, std::size_t* out_bytes, unsigned char* secret,
                     std::size_t* secret_bytes) {
  KemContext& context = as_context(data);
  const Errors& errors = context.provider.errors;
  return guarded(errors, [&]() -> int {
    const Algorithm& algorithm = context.key->algorithm();
    const std::size_t right = algorithm.ciphertext_bytes(), right_secret = algorithm.secret_bytes();
    if (out != nullptr) {
      if (secret == nullptr || !has_room(algorithm, errors, "ciphertext", right, out_bytes) ||
          !has_room(algorithm, errors, "secret", right_secret, secret_bytes))
        return 0;
      if (!encapsulate(context, out, secret)) {
        OPENSSL_cleanse(secret, right_secret);
        return 0;
      }
    }
    if (out_bytes != nullptr) *out_bytes = right;
    if (secret_bytes != nullptr) *secret_bytes = right_secret;
    return 1;
  });
}

int decapsulate_call(void* data, unsigned char* secret, std::size_t* secret_bytes, const unsigned char* in,
                     std::size_t in_bytes) {
  KemContext& context = as_context(data);
  const Errors& errors = context.provider.errors;
  return guarded(errors, [&]() -> int {
    const Algorithm& algorithm = context.key->algorithm();
    const std::size_t right = algorithm.secret_bytes();
    if (secret != nullptr) {
      if (in_bytes != algorithm.ciphertext_bytes()) {
        errors.raise(Reason::kLength, "%s: the ciphertext has %zu bytes, expected %zu", algorithm.name.c_str(),
                     in_bytes, algorithm.ciphertext_bytes());
        return 0;
      }
      if (!has_room(algorithm, errors, "secret", right, secret_bytes)) return 0;
      if (!decapsulate(*context.key, in, secret)) {
        OPENSSL_cleanse(secret, right);
        return 0;
      }
    }
    if (secret_bytes != nullptr) *secret_bytes = right;
    return 1;
  });
}

const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_kem_newctx_fn>(OSSL_FUNC_KEM_NEWCTX, new_context),
      entry<OSSL_FUNC_kem_freectx_fn>(OSSL_FUNC_KEM_FREECTX, free_context),
      entry<OSSL_FUNC_kem_dupctx_fn>(OSSL_FUNC_KEM_DUPCTX, duplicate_context),
      entry<OSSL_FUNC_kem_encapsulate_init_fn>(OSSL_FUNC_KEM_ENCAPSULATE_INIT, begin_encapsulate),
      entry<OSSL_FUNC_kem_encapsulate_fn>(OSSL_FUNC_KEM_ENCAPSULATE, encapsulate_call),
      entry<OSSL_FUNC_kem_decapsulate_init_fn>(OSSL_FUNC_KEM_DECAPSULATE_INIT, begin_decapsulate),
      entry<OSSL_FUNC_kem_decapsulate_fn>(OSSL_FUNC_KEM_DECAPSULATE, decapsulate_call),
      entry<OSSL_FUNC_kem_set_ctx_params_fn>(OSSL_FUNC_KEM_SET_CTX_PARAMS, set_params),
      entry<OSSL_FUNC_kem_settable_ctx_params_fn>(OSSL_FUNC_KEM_SETTABLE_CTX_PARAMS, settable_params),
      {0, nullptr},
  };
  return table;
}

}  // namespace

std::vector<OSSL_ALGORITHM> kem_table(const Offer& offer) {
  return algorithm_table(
      offer, [](const Algorithm& each) { return !each.signs(); }, [](std::size_t /*index*/) { return functions(); });
}

}  // namespace polykem::provider
