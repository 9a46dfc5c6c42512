// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <cstdarg>

#include "core.hpp"

namespace polykem::provider {

namespace {

constexpr unsigned number(Reason reason) {
  return static_cast<unsigned>(reason);
}

Reason reason_of(polykem_status status) {
  switch (status) {
    case POLYKEM_ERR_PUBLIC_KEY:
      return Reason::kPublicKey;
    case POLYKEM_ERR_SECRET_KEY:
      return Reason::kPrivateKey;
    case POLYKEM_ERR_CIPHERTEXT:
      return Reason::kClassical;
    case POLYKEM_ERR_OUT_OF_MEMORY:
      return Reason::kOutOfMemory;
    case POLYKEM_ERR_RANDOM:
      return Reason::kRandom;
    case POLYKEM_ERR_BUSY:
      return Reason::kBusy;
    case POLYKEM_ERR_UNKNOWN_BACKEND:
    case POLYKEM_ERR_BACKEND_UNAVAILABLE:
      return Reason::kConfiguration;
    default:
      return Reason::kInternal;
  }
}

/// Not const: OSSL_ITEM holds pointers to void.
OSSL_ITEM reasons[] = {
    {number(Reason::kOutOfMemory), const_cast<char*>("out of memory")},
    {number(Reason::kConfiguration), const_cast<char*>("bad configuration")},
    {number(Reason::kPublicKey), const_cast<char*>("malformed public key")},
    {number(Reason::kPrivateKey), const_cast<char*>("malformed private key")},
    {number(Reason::kNoPublicKey), const_cast<char*>("no public key")},
    {number(Reason::kNoPrivateKey), const_cast<char*>("no private key")},
    {number(Reason::kLength), const_cast<char*>("wrong length")},
    {number(Reason::kParameter), const_cast<char*>("bad parameter")},
    {number(Reason::kMismatch), const_cast<char*>("the parts of the key do not match")},
    {number(Reason::kClassical), const_cast<char*>("the classical part of a hybrid failed")},
    {number(Reason::kBusy), const_cast<char*>("too many operations in flight")},
    {number(Reason::kRandom), const_cast<char*>("no random numbers")},
    {number(Reason::kInternal), const_cast<char*>("internal error")},
    {0, nullptr},
};

}  // namespace

Errors::Errors(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core)
    : handle_(handle),
      new_error_(core_function<OSSL_FUNC_core_new_error_fn>(core, OSSL_FUNC_CORE_NEW_ERROR)),
      set_debug_(core_function<OSSL_FUNC_core_set_error_debug_fn>(core, OSSL_FUNC_CORE_SET_ERROR_DEBUG)),
      vset_error_(core_function<OSSL_FUNC_core_vset_error_fn>(core, OSSL_FUNC_CORE_VSET_ERROR)) {}

void Errors::raise(Reason reason, const char* format, ...) const {
  if (new_error_ == nullptr || set_debug_ == nullptr || vset_error_ == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  new_error_(handle_);
  set_debug_(handle_, "", 0, "polykem");
  vset_error_(handle_, number(reason), format, arguments);
  va_end(arguments);
}

void Errors::raise(polykem_status status, const char* what) const {
  raise(reason_of(status), "%s: %s", what, polykem_status_text(status));
}

const OSSL_ITEM* reason_strings() {
  return reasons;
}

}  // namespace polykem::provider
