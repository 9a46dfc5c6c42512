// SPDX-License-Identifier: Apache-2.0
// The provider's section of openssl.cnf.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "algorithms.hpp"

namespace polykem::provider {

/// A sentence for the user that says what is wrong with which key.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Config {
  std::string backend;  ///< empty: the best one
  unsigned threads = 0;
  std::uint32_t deadline_us = 0, linger_us = 0;  ///< 0, here and below: the library's default
  std::size_t batch_items = 0, high_water = 0, hard_limit = 0;
  std::string broker;  ///< path of a socket; empty: none
  bool async = true;   ///< pause in ASYNC jobs
  bool verify_after_sign = false;
  /// After this many abandoned pauses, no job pauses any more; 0: Pauses::kMaxAbandoned.
  std::size_t abandoned_limit = 0;
  std::string statistics;  ///< path of a file; empty: none
};

/// Asks OpenSSL's core for the value of a key in the section; nullptr if there is none.
class CoreParameters {
 public:
  CoreParameters(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core);
  const char* get(const char* key) const;

 private:
  const OSSL_CORE_HANDLE* handle_;
  OSSL_FUNC_core_get_params_fn* get_params_;
};

/// Reads the section, which can also add and remove groups of the offer. Throws ConfigError.
Config read_config(const CoreParameters& core, Offer& offer);

}  // namespace polykem::provider
