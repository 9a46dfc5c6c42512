// SPDX-License-Identifier: Apache-2.0
// Access to OpenSSL's core: its functions, its streams, and the program's library context.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>

namespace polykem::provider {

/// Finds a function of the core; nullptr if it does not have it.
template <class Function>
Function* core_function(const OSSL_DISPATCH* core, int id) {
  for (; core->function_id != 0; ++core) {
    if (core->function_id == id) return reinterpret_cast<Function*>(core->function);
  }
  return nullptr;
}

/// Reads and writes the streams of encoders and decoders.
class CoreStreams {
 public:
  explicit CoreStreams(const OSSL_DISPATCH* core);
  /// Reads all `bytes` bytes or returns false, as write() does.
  bool read(OSSL_CORE_BIO* stream, std::uint8_t* out, std::size_t bytes) const;
  bool write(OSSL_CORE_BIO* stream, const std::uint8_t* in, std::size_t bytes) const;

 private:
  OSSL_FUNC_BIO_read_ex_fn* read_;
  OSSL_FUNC_BIO_write_ex_fn* write_;
};

/// The library context that the provider was loaded into, with the program's other providers.
///
/// OpenSSL tears a provider down with its last object, which a program may free after the context. So if the program
/// uses our libcrypto, we use its context directly and have nothing to free. If it has another libcrypto, for example a
/// static one, a child context in ours represents it. A child context calls its parent when it is freed, so there the
/// context must be freed last.
class CoreLibrary {
 public:
  /// Throws std::bad_alloc.
  CoreLibrary(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core);
  ~CoreLibrary();
  CoreLibrary(const CoreLibrary&) = delete;
  CoreLibrary& operator=(const CoreLibrary&) = delete;
  OSSL_LIB_CTX* get() const { return context_; }

 private:
  bool is_child_;
  OSSL_LIB_CTX* context_;
};

}  // namespace polykem::provider
