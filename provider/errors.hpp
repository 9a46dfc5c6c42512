// SPDX-License-Identifier: Apache-2.0
// Errors for programs that use OpenSSL: a reason in the error queue, and a sentence with details.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <polykem/polykem.h>

#include <exception>
#include <new>
#include <utility>

namespace polykem::provider {

enum class Reason : int {
  kOutOfMemory = 1,
  kConfiguration,
  kPublicKey,
  kPrivateKey,
  kNoPublicKey,
  kNoPrivateKey,
  kLength,
  kParameter,
  kMismatch,
  kClassical,
  kBusy,
  kRandom,
  kInternal,
};

/// Raises errors in the queue of the program that loaded the provider, whose libcrypto may not be ours.
class Errors {
 public:
  Errors(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core);
  void raise(Reason reason, const char* format, ...) const __attribute__((format(printf, 3, 4)));
  /// Raises an error for a status of the library.
  void raise(polykem_status status, const char* what) const;

 private:
  const OSSL_CORE_HANDLE* handle_;
  OSSL_FUNC_core_new_error_fn* new_error_;
  OSSL_FUNC_core_set_error_debug_fn* set_debug_;
  OSSL_FUNC_core_vset_error_fn* vset_error_;
};

const OSSL_ITEM* reason_strings();

/// Runs `body` for OpenSSL, which must not see exceptions. An exception is raised as an error, and the result is 0.
template <class Body>
auto guarded(const Errors& errors, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    errors.raise(Reason::kOutOfMemory, "out of memory");
  } catch (const std::exception& e) {
    errors.raise(Reason::kInternal, "%s", e.what());
  }
  return {};
}

}  // namespace polykem::provider
