// SPDX-License-Identifier: Apache-2.0
// Used by all benchmarks on a GPU: errors, medians, parameter sets, contexts, device memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/scheme.hpp"
#include "polykem/polykem.h"

namespace polykem::bench {

inline constexpr int kSamples = 9;
inline constexpr const char* kOpNames[] = {"keygen", "encaps", "decaps", "sign", "verify"};

/// Prints the reason and ends the program.
[[noreturn]] inline void die(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  std::exit(1);
}

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) die(std::string(what) + ": " + cudaGetErrorString(error));
}

inline void check(polykem_status status, const std::string& what) {
  if (status != POLYKEM_OK) die(what + ": " + polykem_status_text(status));
}

inline polykem_op c_op(Op op) {
  constexpr polykem_op kOps[] = {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS, POLYKEM_SIGN, POLYKEM_VERIFY};
  return kOps[static_cast<size_t>(op)];
}

/// Bytes of each message that is signed.
inline constexpr size_t kMessageBytes = 32;

/// One parameter set as the C API describes it.
struct Set {
  const polykem_scheme* scheme;
  polykem_scheme_info_t info{};

  explicit Set(const polykem_scheme* which) : scheme(which) {
    info.struct_size = sizeof info;
    check(polykem_scheme_info(which, &info), "asking for a parameter set");
  }
  std::string name() const { return info.name; }
  std::string family() const { return info.family; }
  bool signs() const { return info.signature_bytes > 0; }
  size_t ciphertext_bytes() const { return signs() ? info.signature_bytes : info.ciphertext_bytes; }
  /// The set's operations, beginning with key generation.
  std::vector<Op> ops() const {
    if (signs()) return {Op::kKeygen, Op::kSign, Op::kVerify};
    return {Op::kKeygen, Op::kEncaps, Op::kDecaps};
  }
};

/// A context with a forced backend.
struct Context {
  polykem_context* context = nullptr;

  explicit Context(const char* backend) {
    const polykem_config config{sizeof config, 0, backend};
    check(polykem_context_new(&config, &context),
          std::string("opening the backend ") + backend + " ('polykem doctor' says what is missing)");
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { polykem_context_free(context); }
};

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Device memory that is freed with its owner.
struct DeviceBytes {
  uint8_t* data = nullptr;
  size_t size = 0;
  explicit DeviceBytes(size_t bytes) : size(bytes) { check(cudaMalloc(&data, bytes), "cudaMalloc"); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data); }
};

}  // namespace polykem::bench
