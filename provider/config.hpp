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

/// What is wrong, in a sentence for the user; names the key.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Config {
  std::string backend;  ///< empty: the best one
  unsigned threads = 0;
  std::uint32_t deadline_us = 0, linger_us = 0;  ///< 0: the library's default, here and below
  std::size_t batch_items = 0, high_water = 0, hard_limit = 0;
  std::string broker;  ///< path of a socket; empty: none
  bool async = true;   ///< pause in ASYNC jobs
  bool verify_after_sign = false;
  /// After so many abandoned pauses none pauses any more; 0: Pauses::kMaxAbandoned.
  std::size_t abandoned_limit = 0;
  std::string statistics;  ///< path of a file; empty: none
};

/// Asks the core for the value of a key of the section; nullptr if it is not there.
class CoreParameters {
 public:
  CoreParameters(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core);
  const char* get(const char* key) const;

 private:
  const OSSL_CORE_HANDLE* handle_;
  OSSL_FUNC_core_get_params_fn* get_params_;
};

/// Reads the section, which also sets and removes groups of the offer. Throws ConfigError.
Config read_config(const CoreParameters& core, Offer& offer);

}  // namespace polykem::provider
