// SPDX-License-Identifier: Apache-2.0
// The provider in a library context of its own, and keys by EVP.
#pragma once

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <unistd.h>
#include <polykem/polykem.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace polykem::provider::test {

struct Free {
  void operator()(OSSL_LIB_CTX* p) const { OSSL_LIB_CTX_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(EVP_PKEY_CTX* p) const { EVP_PKEY_CTX_free(p); }
};
using LibraryPtr = std::unique_ptr<OSSL_LIB_CTX, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using ContextPtr = std::unique_ptr<EVP_PKEY_CTX, Free>;

/// Returns the error queue as text and empties it.
inline std::string errors() {
  std::string out;
  unsigned long code = 0;
  const char* data = nullptr;
  int flags = 0;
  while ((code = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) != 0) {
    char text[256];
    ERR_error_string_n(code, text, sizeof text);
    out.append(text).append(" ").append((flags & ERR_TXT_STRING) != 0 ? data : "").append("\n");
  }
  return out;
}

/// A configuration file that is the default one while it exists.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& section)
      : path_(testing::TempDir() + "polykem-" + std::to_string(getpid()) + ".cnf") {
    std::ofstream(path_) << "openssl_conf = init\n[init]\nproviders = list\n[list]\ndefault = default_section\n"
                         << "polykem = own\n[default_section]\nactivate = 1\n[own]\n"
                         << section << "\n";
    setenv("OPENSSL_CONF", path_.c_str(), 1);
  }
  ~ConfigFile() {
    unsetenv("OPENSSL_CONF");
    std::remove(path_.c_str());
  }
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

/// A library context with the default provider and polykem, which has `section` in openssl.cnf. `init`: the entry
/// of a provider that is part of the program, instead of the module.
class Library {
 public:
  explicit Library(const std::string& section = "", OSSL_provider_init_fn* init = nullptr)
      : context_(OSSL_LIB_CTX_new()) {
    // The default context with the system's file, before the provider's first look at an object loads it with ours.
    OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr);
    if (init != nullptr) OSSL_PROVIDER_add_builtin(context_.get(), "polykem", init);
    const ConfigFile file(section);
    OSSL_PROVIDER_set_default_search_path(context_.get(), POLYKEM_MODULES);
    OSSL_LIB_CTX_load_config(context_.get(), file.path());
    default_ = OSSL_PROVIDER_load(context_.get(), "default");
    polykem_ = OSSL_PROVIDER_load(context_.get(), "polykem");
    if (polykem_ == nullptr) throw std::runtime_error(errors());
  }
  ~Library() {
    OSSL_PROVIDER_unload(polykem_);
    OSSL_PROVIDER_unload(default_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  OSSL_LIB_CTX* get() const { return context_.get(); }
  OSSL_PROVIDER* provider() const { return polykem_; }

 private:
  LibraryPtr context_;
  OSSL_PROVIDER* default_ = nullptr;
  OSSL_PROVIDER* polykem_ = nullptr;
};

/// True with OpenSSL 3.5, which has ML-KEM, its hybrids and their groups; the provider leaves hybrids and groups to it.
inline bool openssl_has_mlkem() {
  return OPENSSL_version_major() > 3 || OPENSSL_version_minor() >= 5;
}
/// A hybrid of the provider.
inline const char* hybrid_name() {
  return openssl_has_mlkem() ? "x25519_frodo640aes" : "X25519MLKEM768";
}

/// Every KEM of the provider, by a name.
inline std::vector<std::string> algorithm_names(OSSL_PROVIDER* provider) {
  std::vector<std::string> out;
  int no_cache = 0;
  for (const OSSL_ALGORITHM* a = OSSL_PROVIDER_query_operation(provider, OSSL_OP_KEM, &no_cache);
       a != nullptr && a->algorithm_names != nullptr; ++a)
    out.emplace_back(a->algorithm_description);
  return out;
}

/// Converts a name to one that GoogleTest accepts.
inline std::string identifier(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

inline ContextPtr context_of(const Library& library, const std::string& name) {
  return ContextPtr(EVP_PKEY_CTX_new_from_name(library.get(), name.c_str(), "provider=polykem"));
}
inline ContextPtr context_of(const Library& library, EVP_PKEY* key) {
  return ContextPtr(EVP_PKEY_CTX_new_from_pkey(library.get(), key, "provider=polykem"));
}

inline OSSL_PARAM octets(const char* name, ByteView bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(bytes.data()), bytes.size());
}

/// A key pair; from a seed if one is given.
inline KeyPtr generate(const Library& library, const std::string& name, ByteView seed = {}) {
  const ContextPtr context = context_of(library, name);
  EVP_PKEY* key = nullptr;
  const OSSL_PARAM params[] = {octets("seed", seed), OSSL_PARAM_construct_end()};
  if (context == nullptr || EVP_PKEY_keygen_init(context.get()) != 1) return nullptr;
  if (seed.size() != 0 && EVP_PKEY_CTX_set_params(context.get(), params) != 1) return nullptr;
  EVP_PKEY_generate(context.get(), &key);
  return KeyPtr(key);
}

inline KeyPtr import(const Library& library, const std::string& name, int selection,
                     std::vector<std::pair<const char*, ByteView>> parts) {
  const ContextPtr context = context_of(library, name);
  std::vector<OSSL_PARAM> params;
  for (const auto& [key, bytes] : parts)
    params.push_back(octets(key, bytes));
  params.push_back(OSSL_PARAM_construct_end());
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, selection, params.data()) != 1)
    return nullptr;
  return KeyPtr(key);
}

/// A parameter of a key; empty if it has none.
inline Bytes get(EVP_PKEY* key, const char* name) {
  std::size_t bytes = 0;
  if (EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &bytes) != 1 || bytes == 0) return {};
  Bytes out(bytes);
  return EVP_PKEY_get_octet_string_param(key, name, out.data(), out.size(), &bytes) == 1 ? out : Bytes();
}

struct Encapsulated {
  Bytes ciphertext, secret;
};

inline std::optional<Encapsulated> encapsulate(const Library& library, EVP_PKEY* key, ByteView ikme = {}) {
  const ContextPtr context = context_of(library, key);
  const OSSL_PARAM params[] = {octets("ikme", ikme), OSSL_PARAM_construct_end()};
  if (EVP_PKEY_encapsulate_init(context.get(), ikme.size() == 0 ? nullptr : params) != 1) return {};
  std::size_t bytes = 0, secret_bytes = 0;
  if (EVP_PKEY_encapsulate(context.get(), nullptr, &bytes, nullptr, &secret_bytes) != 1) return {};
  Encapsulated out{Bytes(bytes), Bytes(secret_bytes)};
  if (EVP_PKEY_encapsulate(context.get(), out.ciphertext.data(), &bytes, out.secret.data(), &secret_bytes) != 1)
    return {};
  return out;
}

/// Empty on failure.
inline Bytes decapsulate(const Library& library, EVP_PKEY* key, const Bytes& ciphertext) {
  const ContextPtr context = context_of(library, key);
  std::size_t bytes = 0;
  if (EVP_PKEY_decapsulate_init(context.get(), nullptr) != 1 ||
      EVP_PKEY_decapsulate(context.get(), nullptr, &bytes, ciphertext.data(), ciphertext.size()) != 1)
    return {};
  Bytes out(bytes);
  if (EVP_PKEY_decapsulate(context.get(), out.data(), &bytes, ciphertext.data(), ciphertext.size()) != 1) return {};
  return out;
}

}  // namespace polykem::provider::test
