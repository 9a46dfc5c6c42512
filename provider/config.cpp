// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

namespace polykem::provider {

CoreParameters::CoreParameters(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core) : handle_(handle) {
  for (; core->function_id != 0; ++core) {
    if (core->function_id == OSSL_FUNC_CORE_GET_PARAMS)
      get_params_ = reinterpret_cast<OSSL_FUNC_core_get_params_fn*>(core->function);
  }
}

const char* CoreParameters::get(const char* key) const {
  char* value = nullptr;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr(key, &value, 0), OSSL_PARAM_construct_end()};
  return get_params_ != nullptr && get_params_(handle_, params) == 1 ? value : nullptr;
}

Config read_config(const CoreParameters& core, Offer& offer) {
  (void)core;
  (void)offer;
  return {};
}

}  // namespace polykem::provider
