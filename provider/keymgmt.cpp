// SPDX-License-Identifier: Apache-2.0
// Key management: the keys inside EVP_PKEY objects.
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "key.hpp"
#include "tables.hpp"

namespace polykem::provider {

namespace {

constexpr const char* kSeed = "seed";  // OSSL_PKEY_PARAM_ML_KEM_SEED of OpenSSL 3.5

template <std::size_t kIndex>
void* new_key(void* provider) {
  Provider& own = as_provider(provider);
  return guarded(own.errors, [&]() -> void* { return new Key(own, own.offer.algorithms[kIndex]); });
}

void free_key(void* key) {
  if (key != nullptr) as_key(key).release();
}

/// Takes over a key from a decoder's reference, which is a pointer to the pointer to a key.
void* load_key(const void* reference, std::size_t bytes) {
  if (bytes != sizeof(Key*)) return nullptr;
  return std::exchange(*static_cast<Key**>(const_cast<void*>(reference)), nullptr);
}

void* duplicate_key(const void* from, int selection) {
  const Key& key = as_key(from);
  return guarded(key.provider().errors, [&]() -> void* { return key.duplicate(selection); });
}

int has(const void* data, int selection) {
  if (data == nullptr) return 0;
  const Key& key = as_key(data);
  return ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) == 0 || key.has_public()) &&
         ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 || key.has_private());
}

int match(const void* first, const void* second, int selection) {
  const Key& a = as_key(first);
  const Key& b = as_key(second);
  if (&a.algorithm() != &b.algorithm() && a.algorithm().name != b.algorithm().name) return 0;
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return 1;
  return guarded(a.provider().errors, [&]() -> int {
    // The public key represents the pair, unless it is missing.
    if (a.has_public() && b.has_public()) return same_bytes(a.encoded_public_key(), b.encoded_public_key());
    return (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 && a.has_private() && b.has_private() &&
           !a.algorithm().is_hybrid() && same_bytes(a.secret_key(), b.secret_key());
  });
}

int validate(const void* data, int selection, int /*check_type*/) {
  const Key& key = as_key(data);
  return guarded(key.provider().errors, [&]() -> int {
    const bool wants_public = (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0;
    const bool wants_private = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
    if (wants_public && !key.has_public()) {
      key.provider().errors.raise(Reason::kNoPublicKey, "%s", key.algorithm().name.c_str());
      return 0;
    }
    if (wants_private && !key.has_private()) {
      key.provider().errors.raise(Reason::kNoPrivateKey, "%s", key.algorithm().name.c_str());
      return 0;
    }
    if (wants_public && wants_private) return key.check_pair();
    return (!wants_public || key.check_public()) && (!wants_private || key.check_private());
  });
}

// ---- parameters of a key

bool set_octets(OSSL_PARAM params[], const char* name, ByteView bytes) {
  OSSL_PARAM* param = OSSL_PARAM_locate(params, name);
  return param == nullptr || bytes.size() == 0 || OSSL_PARAM_set_octet_string(param, bytes.data(), bytes.size()) == 1;
}

bool set_number(OSSL_PARAM params[], const char* name, std::size_t value) {
  OSSL_PARAM* param = OSSL_PARAM_locate(params, name);
  return param == nullptr || OSSL_PARAM_set_int(param, static_cast<int>(value)) == 1;
}

/// The size of an operation's output: a ciphertext or a signature.
std::size_t output_bytes(const Algorithm& algorithm) {
  return algorithm.signs() ? algorithm.scheme.info().signature_bytes : algorithm.ciphertext_bytes();
}

/// No digest: ML-DSA signs messages, which programs must not hash first.
bool set_no_digest(const Algorithm& algorithm, OSSL_PARAM params[]) {
  OSSL_PARAM* param = OSSL_PARAM_locate(params, OSSL_PKEY_PARAM_MANDATORY_DIGEST);
  return param == nullptr || !algorithm.signs() || OSSL_PARAM_set_utf8_string(param, "") == 1;
}

int get_params(void* data, OSSL_PARAM params[]) {
  const Key& key = as_key(data);
  return guarded(key.provider().errors, [&]() -> int {
    const Algorithm& algorithm = key.algorithm();
    const bool wants_public = OSSL_PARAM_locate(params, OSSL_PKEY_PARAM_PUB_KEY) != nullptr ||
                              OSSL_PARAM_locate(params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY) != nullptr;
    const Bytes encoded = wants_public ? key.encoded_public_key() : Bytes();
    return set_number(params, OSSL_PKEY_PARAM_BITS, 8 * algorithm.public_key_bytes()) &&
           set_number(params, OSSL_PKEY_PARAM_SECURITY_BITS, static_cast<std::size_t>(algorithm.security_bits())) &&
           set_number(params, OSSL_PKEY_PARAM_MAX_SIZE, output_bytes(algorithm)) && set_no_digest(algorithm, params) &&
           set_octets(params, OSSL_PKEY_PARAM_PUB_KEY, encoded) &&
           set_octets(params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, encoded) &&
           (algorithm.is_hybrid() ||
            (set_octets(params, OSSL_PKEY_PARAM_PRIV_KEY, key.secret_key()) && set_octets(params, kSeed, key.seed())));
  });
}

const OSSL_PARAM* gettable_params(void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_int(OSSL_PKEY_PARAM_BITS, nullptr),
                                    OSSL_PARAM_int(OSSL_PKEY_PARAM_SECURITY_BITS, nullptr),
                                    OSSL_PARAM_int(OSSL_PKEY_PARAM_MAX_SIZE, nullptr),
                                    OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_MANDATORY_DIGEST, nullptr, 0),
                                    OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0),
                                    OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                                    OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0),
                                    OSSL_PARAM_octet_string(kSeed, nullptr, 0),
                                    OSSL_PARAM_END};
  return list;
}

/// The bytes of an octet string; false with an error raised if the parameter has another type.
bool octets(const Errors& errors, const OSSL_PARAM& param, ByteView& out) {
  const void* data = nullptr;
  std::size_t bytes = 0;
  if (OSSL_PARAM_get_octet_string_ptr(&param, &data, &bytes) != 1) {
    errors.raise(Reason::kParameter, "'%s' is not an octet string", param.key);
    return false;
  }
  out = {static_cast<const std::uint8_t*>(data), bytes};
  return true;
}

int set_params(void* data, const OSSL_PARAM params[]) {
  Key& key = as_key(data);
  const Errors& errors = key.provider().errors;
  const OSSL_PARAM* param = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY);
  if (param == nullptr) return 1;
  return guarded(errors, [&]() -> int {
    ByteView bytes;
    return octets(errors, *param, bytes) && key.set_public_key(bytes);
  });
}

const OSSL_PARAM* settable_params(void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0),
                                    OSSL_PARAM_END};
  return list;
}

// ---- import and export

/// Sets those parts of the key that the parameters have.
bool import_parts(Key& key, int selection, const OSSL_PARAM params[]) {
  const Errors& errors = key.provider().errors;
  const auto read = [&](const char* name, bool (Key::*set)(ByteView)) {
    const OSSL_PARAM* param = OSSL_PARAM_locate_const(params, name);
    ByteView bytes;
    return param == nullptr || (octets(errors, *param, bytes) && (key.*set)(bytes));
  };
  // OpenSSL's own hybrids are imported with a selection of private keys even if there is only a public one.
  if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0 || !read(OSSL_PKEY_PARAM_PUB_KEY, &Key::set_public_key))
    return false;
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0) return true;
  return read(OSSL_PKEY_PARAM_PRIV_KEY, &Key::set_secret_key) && read(kSeed, &Key::set_seed);
}

int import(void* data, int selection, const OSSL_PARAM params[]) {
  Key& key = as_key(data);
  return guarded(key.provider().errors, [&]() -> int {
    if (!import_parts(key, selection, params)) return 0;
    if (key.has_private() && key.has_public() && !key.algorithm().is_hybrid()) return key.check_pair();
    if (key.has_private()) return key.check_private();
    if (key.has_public()) return key.check_public();
    key.provider().errors.raise(Reason::kParameter, "%s: expected a public or a private key",
                                key.algorithm().name.c_str());
    return 0;
  });
}

int export_key(void* data, int selection, OSSL_CALLBACK* callback, void* argument) {
  const Key& key = as_key(data);
  return guarded(key.provider().errors, [&]() -> int {
    const bool with_private = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
    if (with_private && key.algorithm().is_hybrid()) {
      key.provider().errors.raise(Reason::kParameter, "%s: hybrids have no private format",
                                  key.algorithm().name.c_str());
      return 0;
    }
    std::array<OSSL_PARAM, 4> params;
    std::size_t count = 0;
    const auto add = [&](const char* name, ByteView bytes) {
      if (bytes.size() == 0) return;
      params.at(count++) =
          OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(bytes.data()), bytes.size());
    };
    const Bytes encoded = key.encoded_public_key();
    if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0) add(OSSL_PKEY_PARAM_PUB_KEY, encoded);
    if (with_private) {
      add(OSSL_PKEY_PARAM_PRIV_KEY, key.secret_key());
      add(kSeed, key.seed());
    }
    params.at(count) = OSSL_PARAM_construct_end();
    return callback(params.data(), argument);
  });
}

const OSSL_PARAM* transfer_types(int selection) {
  static const OSSL_PARAM all[] = {OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                                   OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0),
                                   OSSL_PARAM_octet_string(kSeed, nullptr, 0), OSSL_PARAM_END};
  static const OSSL_PARAM public_only[] = {OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                                           OSSL_PARAM_END};
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0) return all;
  return (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0 ? public_only : nullptr;
}

// ---- generation

struct Generation {
  Provider& provider;
  const Algorithm& algorithm;
  int selection;
  SecretBytes seed;
};

/// True if `name` is a name of the algorithm or of one of its TLS groups. OpenSSL's own groups have no name here.
bool is_name(const Provider& provider, const Algorithm& algorithm, std::string_view name) {
  const auto same = [&](std::string_view other) {
    return other.size() == name.size() && strncasecmp(other.data(), name.data(), name.size()) == 0;
  };
  if (name.empty()) return true;
  for (const Group& group : provider.offer.groups) {
    if (&provider.offer.algorithms[group.algorithm] == &algorithm && same(group.name)) return true;
  }
  for (std::string_view rest = algorithm.names; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (same(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

int set_gen_params(void* data, const OSSL_PARAM params[]) {
  auto& generation = *static_cast<Generation*>(data);
  const Errors& errors = generation.provider.errors;
  return guarded(errors, [&]() -> int {
    if (const OSSL_PARAM* group = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_GROUP_NAME); group != nullptr) {
      const char* name = nullptr;
      if (OSSL_PARAM_get_utf8_string_ptr(group, &name) != 1 ||
          !is_name(generation.provider, generation.algorithm, name)) {
        errors.raise(Reason::kParameter, "%s: '%s' is not a group of this algorithm", generation.algorithm.name.c_str(),
                     name == nullptr ? "" : name);
        return 0;
      }
    }
    const OSSL_PARAM* seed = OSSL_PARAM_locate_const(params, kSeed);
    if (seed == nullptr) return 1;
    ByteView bytes;
    if (!octets(errors, *seed, bytes)) return 0;
    if (generation.algorithm.is_hybrid()) {
      errors.raise(Reason::kParameter, "%s: a hybrid takes no seed", generation.algorithm.name.c_str());
      return 0;
    }
    const std::size_t expected = generation.algorithm.scheme.info().keygen_coin_bytes;
    if (bytes.size() != expected) {
      errors.raise(Reason::kLength, "%s: the seed has %zu bytes, expected %zu", generation.algorithm.name.c_str(),
                   bytes.size(), expected);
      return 0;
    }
    generation.seed.assign(bytes.data(), bytes.data() + bytes.size());
    return 1;
  });
}

const OSSL_PARAM* settable_gen_params(void* /*generation*/, void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, nullptr, 0),
                                    OSSL_PARAM_octet_string(kSeed, nullptr, 0), OSSL_PARAM_END};
  return list;
}

void end_generation(void* data) {
  delete static_cast<Generation*>(data);
}

template <std::size_t kIndex>
void* begin_generation(void* provider, int selection, const OSSL_PARAM params[]) {
  Provider& own = as_provider(provider);
  return guarded(own.errors, [&]() -> void* {
    auto out = std::make_unique<Generation>(Generation{own, own.offer.algorithms[kIndex], selection, {}});
    return params == nullptr || set_gen_params(out.get(), params) == 1 ? out.release() : nullptr;
  });
}

void* generate(void* data, OSSL_CALLBACK* /*callback*/, void* /*argument*/) {
  const auto& generation = *static_cast<const Generation*>(data);
  return guarded(generation.provider.errors, [&]() -> void* {
    KeyPtr key(new Key(generation.provider, generation.algorithm));
    // Without a key pair, returns a key without material, in which a TLS server sets its peer's public key.
    const bool pair = (generation.selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0;
    return !pair || key->generate(generation.seed) ? key.release() : nullptr;
  });
}

/// Only functions that make an object differ by algorithm, because OpenSSL does not pass the algorithm.
template <std::size_t kIndex>
const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_keymgmt_new_fn>(OSSL_FUNC_KEYMGMT_NEW, new_key<kIndex>),
      entry<OSSL_FUNC_keymgmt_free_fn>(OSSL_FUNC_KEYMGMT_FREE, free_key),
      entry<OSSL_FUNC_keymgmt_load_fn>(OSSL_FUNC_KEYMGMT_LOAD, load_key),
      entry<OSSL_FUNC_keymgmt_dup_fn>(OSSL_FUNC_KEYMGMT_DUP, duplicate_key),
      entry<OSSL_FUNC_keymgmt_has_fn>(OSSL_FUNC_KEYMGMT_HAS, has),
      entry<OSSL_FUNC_keymgmt_match_fn>(OSSL_FUNC_KEYMGMT_MATCH, match),
      entry<OSSL_FUNC_keymgmt_validate_fn>(OSSL_FUNC_KEYMGMT_VALIDATE, validate),
      entry<OSSL_FUNC_keymgmt_get_params_fn>(OSSL_FUNC_KEYMGMT_GET_PARAMS, get_params),
      entry<OSSL_FUNC_keymgmt_gettable_params_fn>(OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, gettable_params),
      entry<OSSL_FUNC_keymgmt_set_params_fn>(OSSL_FUNC_KEYMGMT_SET_PARAMS, set_params),
      entry<OSSL_FUNC_keymgmt_settable_params_fn>(OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS, settable_params),
      entry<OSSL_FUNC_keymgmt_import_fn>(OSSL_FUNC_KEYMGMT_IMPORT, import),
      entry<OSSL_FUNC_keymgmt_import_types_fn>(OSSL_FUNC_KEYMGMT_IMPORT_TYPES, transfer_types),
      entry<OSSL_FUNC_keymgmt_export_fn>(OSSL_FUNC_KEYMGMT_EXPORT, export_key),
      entry<OSSL_FUNC_keymgmt_export_types_fn>(OSSL_FUNC_KEYMGMT_EXPORT_TYPES, transfer_types),
      entry<OSSL_FUNC_keymgmt_gen_init_fn>(OSSL_FUNC_KEYMGMT_GEN_INIT, begin_generation<kIndex>),
      entry<OSSL_FUNC_keymgmt_gen_set_params_fn>(OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS, set_gen_params),
      entry<OSSL_FUNC_keymgmt_gen_settable_params_fn>(OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS, settable_gen_params),
      entry<OSSL_FUNC_keymgmt_gen_fn>(OSSL_FUNC_KEYMGMT_GEN, generate),
      entry<OSSL_FUNC_keymgmt_gen_cleanup_fn>(OSSL_FUNC_KEYMGMT_GEN_CLEANUP, end_generation),
      {0, nullptr},
  };
  return table;
}

template <std::size_t... kIndex>
const OSSL_DISPATCH* functions_at(std::size_t index, std::index_sequence<kIndex...> /*all*/) {
  const OSSL_DISPATCH* (*const all[])() = {functions<kIndex>...};
  return all[index]();
}

}  // namespace

std::vector<OSSL_ALGORITHM> key_manager_table(const Offer& offer) {
  return algorithm_table(
      offer, [](const Algorithm&) { return true; },
      [](std::size_t index) { return functions_at(index, std::make_index_sequence<kMaxAlgorithms>()); });
}

}  // namespace polykem::provider
