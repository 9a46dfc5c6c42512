// SPDX-License-Identifier: Apache-2.0
// Signing and verification. The parts of a message are kept until it is complete. The parameters are those of OpenSSL
// 3.5's own ML-DSA.
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <utility>

#include "formats/keys.hpp"
#include "key.hpp"
#include "tables.hpp"

namespace polykem::provider {

namespace {

// OSSL_SIGNATURE_PARAM_... and OSSL_FUNC_SIGNATURE_... of OpenSSL 3.5
constexpr const char* kContextString = "context-string";
constexpr const char* kTestEntropy = "test-entropy";
constexpr const char* kDeterministic = "deterministic";
constexpr const char* kMessageEncoding = "message-encoding";
constexpr const char* kMu = "mu";
constexpr int kSignMessageInit = 27, kVerifyMessageInit = 30;

constexpr std::size_t kMaxContextBytes = 255, kMuBytes = 64;

struct SignatureContext {
  explicit SignatureContext(Provider& own) : provider(own) {}

  Provider& provider;
  KeyPtr key;
  Bytes context;      ///< the context string of FIPS 204
  SecretBytes coins;  ///< rnd of each signature, if set
  int deterministic = 0;
  int is_mu = 0;        ///< the message is mu
  SecretBytes message;  ///< the parts so far
};

SignatureContext& as_context(void* pointer) {
  return *static_cast<SignatureContext*>(pointer);
}

void* new_context(void* provider, const char* /*properties*/) {
  Provider& own = as_provider(provider);
  return guarded(own.errors, [&]() -> void* { return new SignatureContext(own); });
}

void free_context(void* context) {
  delete static_cast<SignatureContext*>(context);
}

void* duplicate_context(void* from) {
  SignatureContext& context = as_context(from);
  return guarded(context.provider.errors, [&]() -> void* {
    auto out = std::make_unique<SignatureContext>(context.provider);
    if (context.key != nullptr) out->key.reset(context.key->up_ref());
    out->context = context.context;
    out->coins = context.coins;
    out->deterministic = context.deterministic;
    out->is_mu = context.is_mu;
    out->message = context.message;
    return out.release();
  });
}

// ---- parameters

/// Reads an octet string of `min` to `max` bytes, if the parameters have one.
template <class Out>
bool read_octets(const Errors& errors, const OSSL_PARAM params[], const char* name, std::size_t min, std::size_t max,
                 Out& out) {
  const OSSL_PARAM* param = OSSL_PARAM_locate_const(params, name);
  if (param == nullptr) return true;
  const void* bytes = nullptr;
  std::size_t size = 0;
  if (OSSL_PARAM_get_octet_string_ptr(param, &bytes, &size) != 1 || size < min || size > max) {
    errors.raise(Reason::kParameter, "'%s' has %zu bytes, expected %zu to %zu", name, size, min, max);
    return false;
  }
  const auto* begin = static_cast<const std::uint8_t*>(bytes);
  out.assign(begin, begin + size);
  return true;
}

bool read_number(const Errors& errors, const OSSL_PARAM params[], const char* name, int& out) {
  const OSSL_PARAM* param = OSSL_PARAM_locate_const(params, name);
  if (param == nullptr || OSSL_PARAM_get_int(param, &out) == 1) return true;
  errors.raise(Reason::kParameter, "'%s' is not a number", name);
  return false;
}

int set_params(void* data, const OSSL_PARAM params[]) {
  SignatureContext& context = as_context(data);
  const Errors& errors = context.provider.errors;
  if (params == nullptr) return 1;
  return guarded(errors, [&]() -> int {
    const std::size_t coin_bytes = context.key->algorithm().scheme.info().sign_coin_bytes;
    int encoding = 1;
    if (!read_octets(errors, params, kContextString, 0, kMaxContextBytes, context.context) ||
        !read_octets(errors, params, kTestEntropy, coin_bytes, coin_bytes, context.coins) ||
        !read_number(errors, params, kDeterministic, context.deterministic) ||
        !read_number(errors, params, kMu, context.is_mu) || !read_number(errors, params, kMessageEncoding, encoding))
      return 0;
    if (encoding == 1) return 1;
    errors.raise(Reason::kParameter, "'%s' must be 1, because polykem encodes the message itself", kMessageEncoding);
    return 0;
  });
}

const OSSL_PARAM* settable_params(void* /*context*/, void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_octet_string(kContextString, nullptr, 0),
                                    OSSL_PARAM_octet_string(kTestEntropy, nullptr, 0),
                                    OSSL_PARAM_int(kDeterministic, nullptr),
                                    OSSL_PARAM_int(kMessageEncoding, nullptr),
                                    OSSL_PARAM_int(kMu, nullptr),
                                    OSSL_PARAM_END};
  return list;
}

int get_params(void* data, OSSL_PARAM params[]) {
  const SignatureContext& context = as_context(data);
  OSSL_PARAM* identifier = OSSL_PARAM_locate(params, OSSL_SIGNATURE_PARAM_ALGORITHM_ID);
  if (identifier == nullptr) return 1;
  return guarded(context.provider.errors, [&]() -> int {
    const SecretBytes der = formats::algorithm_identifier(context.key->algorithm().scheme);
    return OSSL_PARAM_set_octet_string(identifier, der.data(), der.size());
  });
}

const OSSL_PARAM* gettable_params(void* /*context*/, void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_octet_string(OSSL_SIGNATURE_PARAM_ALGORITHM_ID, nullptr, 0),
                                    OSSL_PARAM_END};
  return list;
}

// ---- operations

/// Starts an operation with the key or, if it is null, with that of the previous operation.
int begin(void* data, void* key, const OSSL_PARAM params[], bool signs) {
  SignatureContext& context = as_context(data);
  if (key != nullptr) context.key.reset(as_key(key).up_ref());
  if (context.key == nullptr || !(signs ? context.key->has_private() : context.key->has_public())) {
    context.provider.errors.raise(signs ? Reason::kNoPrivateKey : Reason::kNoPublicKey, "a key is needed");
    return 0;
  }
  context.context.clear();
  context.coins.clear();
  context.message.clear();
  context.deterministic = context.is_mu = 0;
  return set_params(data, params);
}

int begin_sign(void* data, void* key, const OSSL_PARAM params[]) {
  return begin(data, key, params, true);
}

int begin_verify(void* data, void* key, const OSSL_PARAM params[]) {
  return begin(data, key, params, false);
}

/// Refuses a digest, which would be signed in place of the message.
bool has_no_digest(void* data, const char* digest) {
  if (digest == nullptr || digest[0] == '\0') return true;
  as_context(data).provider.errors.raise(Reason::kParameter, "ML-DSA signs messages, not a digest by %s", digest);
  return false;
}

int begin_digest_sign(void* data, const char* digest, void* key, const OSSL_PARAM params[]) {
  return has_no_digest(data, digest) && begin_sign(data, key, params) == 1;
}

int begin_digest_verify(void* data, const char* digest, void* key, const OSSL_PARAM params[]) {
  return has_no_digest(data, digest) && begin_verify(data, key, params) == 1;
}

/// Fills in the message of a request. False with an error raised if mu has a wrong length.
bool describe(const SignatureContext& context, const unsigned char* bytes, std::size_t size, polykem_messages& out) {
  if (context.is_mu != 0 && size != kMuBytes) {
    context.provider.errors.raise(Reason::kLength, "mu has %zu bytes, expected %zu", size, kMuBytes);
    return false;
  }
  out = {};
  out.struct_size = sizeof out;
  out.kind = context.is_mu != 0 ? POLYKEM_MESSAGE_MU : POLYKEM_MESSAGE;
  out.strings = {bytes, nullptr, size, 0};
  if (context.is_mu == 0) out.contexts = {context.context.data(), nullptr, context.context.size(), 0};
  out.deterministic = context.coins.empty() && context.deterministic != 0 ? 1 : 0;
  return true;
}

/// Verifies a new signature. A fault during its computation could make it reveal the private key.
bool new_signature_verifies(const Key& key, const polykem_messages& message, unsigned char* signature) {
  const Algorithm& algorithm = key.algorithm();
  const Errors& errors = key.provider().errors;
  Pending pending;
  if (key.start_verify(message, signature, pending)) {
    const polykem_status status = pending.finish(nullptr, nullptr);
    if (status == POLYKEM_OK) return true;
    if (status == POLYKEM_ERR_SIGNATURE) {
      errors.raise(Reason::kInternal, "%s: the new signature does not verify", algorithm.name.c_str());
    } else {
      errors.raise(status, algorithm.name.c_str());
    }
  }
  OPENSSL_cleanse(signature, algorithm.scheme.info().signature_bytes);
  return false;
}

int sign(void* data, unsigned char* out, std::size_t* out_bytes, std::size_t room, const unsigned char* message,
         std::size_t message_bytes) {
  const SignatureContext& context = as_context(data);
  const Errors& errors = context.provider.errors;
  return guarded(errors, [&]() -> int {
    const Algorithm& algorithm = context.key->algorithm();
    const std::size_t right = algorithm.scheme.info().signature_bytes;
    *out_bytes = right;
    if (out == nullptr) return 1;
    if (room < right) {
      errors.raise(Reason::kLength, "%s: the buffer for the signature has %zu bytes, expected %zu",
                   algorithm.name.c_str(), room, right);
      return 0;
    }
    polykem_messages messages;
    Pending pending;
    return describe(context, message, message_bytes, messages) &&
           context.key->start_sign(messages, context.coins, pending) && context.key->finish(pending, out, nullptr) &&
           (!context.provider.compute->verifies_signatures() || new_signature_verifies(*context.key, messages, out));
  });
}

/// Verifies a signature. A wrong one raises no error, since the program decides what it means.
int verify(void* data, const unsigned char* signature, std::size_t signature_bytes, const unsigned char* message,
           std::size_t message_bytes) {
  const SignatureContext& context = as_context(data);
  return guarded(context.provider.errors, [&]() -> int {
    const Key& key = *context.key;
    if (signature_bytes != key.algorithm().scheme.info().signature_bytes) return 0;
    polykem_messages messages;
    Pending pending;
    if (!describe(context, message, message_bytes, messages) || !key.start_verify(messages, signature, pending))
      return 0;
    const polykem_status status = pending.finish(nullptr, nullptr);
    if (status != POLYKEM_OK && status != POLYKEM_ERR_SIGNATURE)
      context.provider.errors.raise(status, key.algorithm().name.c_str());
    return status == POLYKEM_OK;
  });
}

// ---- messages in parts

int add_part(void* data, const unsigned char* part, std::size_t bytes) {
  SignatureContext& context = as_context(data);
  return guarded(context.provider.errors, [&]() -> int {
    context.message.insert(context.message.end(), part, part + bytes);
    return 1;
  });
}

int sign_parts(void* data, unsigned char* out, std::size_t* out_bytes, std::size_t room) {
  const SecretBytes& message = as_context(data).message;
  return sign(data, out, out_bytes, room, message.data(), message.size());
}

int verify_parts(void* data, const unsigned char* signature, std::size_t signature_bytes) {
  const SecretBytes& message = as_context(data).message;
  return verify(data, signature, signature_bytes, message.data(), message.size());
}

const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_signature_newctx_fn>(OSSL_FUNC_SIGNATURE_NEWCTX, new_context),
      entry<OSSL_FUNC_signature_freectx_fn>(OSSL_FUNC_SIGNATURE_FREECTX, free_context),
      entry<OSSL_FUNC_signature_dupctx_fn>(OSSL_FUNC_SIGNATURE_DUPCTX, duplicate_context),
      entry<OSSL_FUNC_signature_sign_init_fn>(OSSL_FUNC_SIGNATURE_SIGN_INIT, begin_sign),
      entry<OSSL_FUNC_signature_sign_init_fn>(kSignMessageInit, begin_sign),
      entry<OSSL_FUNC_signature_sign_fn>(OSSL_FUNC_SIGNATURE_SIGN, sign),
      entry<OSSL_FUNC_signature_verify_init_fn>(OSSL_FUNC_SIGNATURE_VERIFY_INIT, begin_verify),
      entry<OSSL_FUNC_signature_verify_init_fn>(kVerifyMessageInit, begin_verify),
      entry<OSSL_FUNC_signature_verify_fn>(OSSL_FUNC_SIGNATURE_VERIFY, verify),
      entry<OSSL_FUNC_signature_digest_sign_init_fn>(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, begin_digest_sign),
      entry<OSSL_FUNC_signature_digest_sign_update_fn>(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_UPDATE, add_part),
      entry<OSSL_FUNC_signature_digest_sign_final_fn>(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_FINAL, sign_parts),
      entry<OSSL_FUNC_signature_digest_sign_fn>(OSSL_FUNC_SIGNATURE_DIGEST_SIGN, sign),
      entry<OSSL_FUNC_signature_digest_verify_init_fn>(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT, begin_digest_verify),
      entry<OSSL_FUNC_signature_digest_verify_update_fn>(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_UPDATE, add_part),
      entry<OSSL_FUNC_signature_digest_verify_final_fn>(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_FINAL, verify_parts),
      entry<OSSL_FUNC_signature_digest_verify_fn>(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY, verify),
      entry<OSSL_FUNC_signature_get_ctx_params_fn>(OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, get_params),
      entry<OSSL_FUNC_signature_gettable_ctx_params_fn>(OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS, gettable_params),
      entry<OSSL_FUNC_signature_set_ctx_params_fn>(OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, set_params),
      entry<OSSL_FUNC_signature_settable_ctx_params_fn>(OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS, settable_params),
      {0, nullptr},
  };
  return table;
}

}  // namespace

std::vector<OSSL_ALGORITHM> signature_table(const Offer& offer) {
  return algorithm_table(
      offer, [](const Algorithm& each) { return each.signs(); }, [](std::size_t /*index*/) { return functions(); });
}

}  // namespace polykem::provider
