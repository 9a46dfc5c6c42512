// SPDX-License-Identifier: Apache-2.0
// Checks that the constants of embedded.h are those that follow from the parameters.
#pragma once

#include <polykem/embedded.h>

#include <cstddef>

namespace polykem::embedded {

/// True if the constants of one set in embedded.h are those of `set`. Workspace and stack are those of the Cortex-M4;
/// elsewhere primitives may need less workspace and more stack.
constexpr bool has_sizes(const polykem_embedded_set& set, size_t pk, size_t sk, size_t ct, size_t ss,
                         size_t workspace, size_t stack) {
#ifdef POLYKEM_CORTEX_M4
  if (set.workspace_bytes != workspace || set.stack_bytes != stack) return false;
#endif
  return set.public_key_bytes == pk && set.secret_key_bytes == sk && set.ciphertext_bytes == ct &&
         set.shared_secret_bytes == ss && set.workspace_bytes <= workspace && set.stack_bytes >= stack;
}

}  // namespace polykem::embedded

/// Defines polykem_embedded_NAME as MAKE(name, bytes of stack). Its constants begin with POLYKEM_EMBEDDED_UPPER.
#define POLYKEM_EMBEDDED_DEFINE(NAME, UPPER, MAKE)                                                              \
  constexpr polykem_embedded_set polykem_embedded_##NAME = MAKE(#NAME, POLYKEM_EMBEDDED_##UPPER##_STACK_BYTES); \
  static_assert(polykem::embedded::has_sizes(                                                                   \
      polykem_embedded_##NAME, POLYKEM_EMBEDDED_##UPPER##_PUBLIC_KEY_BYTES,                                     \
      POLYKEM_EMBEDDED_##UPPER##_SECRET_KEY_BYTES, POLYKEM_EMBEDDED_##UPPER##_CIPHERTEXT_BYTES,                 \
      POLYKEM_EMBEDDED_##UPPER##_SHARED_SECRET_BYTES, POLYKEM_EMBEDDED_##UPPER##_WORKSPACE_BYTES,               \
      POLYKEM_EMBEDDED_##UPPER##_STACK_BYTES))
