// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the C API share: the context handle, translated types, and structs of other versions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "engine/engine.hpp"
#include "polykem/polykem.h"

struct polykem_context {
  std::unique_ptr<polykem::Engine> engine;
};

namespace polykem::capi {

inline polykem_status to_c(Status status) {
  return static_cast<polykem_status>(status);
}
inline const Scheme* from_c(const polykem_scheme* scheme) {
  return reinterpret_cast<const Scheme*>(scheme);
}
inline const polykem_scheme* to_c(const Scheme* scheme) {
  return reinterpret_cast<const polykem_scheme*>(scheme);
}

/// Runs `body`, turning exceptions into status codes.
template <class F>
polykem_status guarded(F&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return POLYKEM_ERR_OUT_OF_MEMORY;
  } catch (...) {
    return POLYKEM_ERR_INTERNAL;
  }
}

/// The largest valid struct_size: no version of a struct is this long.
constexpr size_t kLongestStruct = 1024;

/// True if the struct has a possible size. kMin: the size of the oldest supported version.
template <size_t kMin, class T>
bool has_known_size(const T* caller) {
  return caller != nullptr && caller->struct_size >= kMin && caller->struct_size <= kLongestStruct;
}

/// Reads a struct of a caller that was compiled with an older or newer header.
template <size_t kMin, class T>
bool read_struct(const T* in, T& out) {
  if (!has_known_size<kMin>(in)) return false;
  out = {};
  const size_t given = in->struct_size;
  std::memcpy(&out, in, std::min(given, sizeof out));
  const auto* bytes = reinterpret_cast<const uint8_t*>(in);
  return given <= sizeof out || std::all_of(bytes + sizeof out, bytes + given, [](uint8_t b) { return b == 0; });
}

/// Writes the part of the struct that a caller with a struct of `size` bytes knows; zeros anything after it.
template <class T>
void write_struct(void* out, size_t size, T value) {
  value.struct_size = size;
  auto* bytes = static_cast<uint8_t*>(out);
  std::memcpy(bytes, &value, std::min(size, sizeof value));
  if (size > sizeof value) std::memset(bytes + sizeof value, 0, size - sizeof value);
}

inline bool is_op(polykem_op op) {
  return op >= POLYKEM_KEYGEN && op <= POLYKEM_VERIFY;
}

inline bool is_op_of(const polykem_scheme* scheme, polykem_op op) {
  return scheme != nullptr && is_op(op) && from_c(scheme)->has(static_cast<Op>(op));
}

/// True if `op` is an operation of the KEM `scheme`.
inline bool is_kem_op(const polykem_scheme* scheme, polykem_op op) {
  return is_op_of(scheme, op) && !from_c(scheme)->is_signature();
}

/// Translates a request for the engine. Status::kArgument if a field has an unknown value.
Status translate(const polykem_request* given, Request& out);

}  // namespace polykem::capi
