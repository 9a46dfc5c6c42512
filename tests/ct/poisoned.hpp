// SPDX-License-Identifier: Apache-2.0
// Used by ct_check and ct_sign: bytes that memcheck follows, errors, and a context of the requested backend.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <valgrind/memcheck.h>

#include "polykem/polykem.h"

namespace polykem::ct_test {

using Bytes = std::vector<uint8_t>;

inline void poison(const Bytes& bytes) {
  (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes.data(), bytes.size());
}
inline void declassify(const Bytes& bytes) {
  (void)VALGRIND_MAKE_MEM_DEFINED(bytes.data(), bytes.size());
}

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

inline void require(polykem_status status, const char* what) {
  if (status != POLYKEM_OK) fail(std::string(what) + ": " + polykem_status_text(status));
}

/// Fixed pseudo-random bytes (a linear congruence is enough to vary the inputs), poisoned.
inline Bytes secret_coins(size_t bytes, uint32_t seed) {
  Bytes out(bytes);
  for (uint8_t& byte : out) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  poison(out);
  return out;
}

inline polykem_scheme_info_t info_of(const polykem_scheme* scheme) {
  polykem_scheme_info_t info{};
  info.struct_size = sizeof info;
  require(polykem_scheme_info(scheme, &info), "info");
  return info;
}

/// A context of one thread on POLYKEM_BACKEND. Ends the program as skipped if that does not run the set.
inline polykem_context* open_context(const polykem_scheme* scheme) {
  constexpr int kSkip = 77;
  polykem_config config{};
  config.struct_size = sizeof config;
  config.threads = 1;
  polykem_context* context = nullptr;
  const polykem_status status = polykem_context_new(&config, &context);
  if (status == POLYKEM_ERR_BACKEND_UNAVAILABLE) std::exit(kSkip);
  require(status, "context");
  const char* wanted = std::getenv("POLYKEM_BACKEND");
  const char* backend = polykem_context_backend(context, scheme);
  if (backend == nullptr) std::exit(kSkip);
  if (wanted != nullptr && std::strcmp(wanted, backend) != 0) fail("another backend runs than was asked for");
  return context;
}

}  // namespace polykem::ct_test
