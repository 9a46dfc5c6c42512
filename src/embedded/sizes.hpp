// SPDX-License-Identifier: Apache-2.0
// Checks that the constants of embedded.h are those that follow from the parameters.
#pragma once

#include <polykem/embedded.h>

#include <cstddef>

namespace polykem::embedded {

/// True if the constants of one set's records in embedded.h are those of `set`.
constexpr bool has_records(const polykem_embedded_set& set, size_t pk, size_t sk, size_t ct, size_t ss) {
  return set.public_key_bytes == pk && set.secret_key_bytes == sk && set.ciphertext_bytes == ct &&
         set.shared_secret_bytes == ss;
}

/// True if the constants of one set's workspaces and stack in embedded.h are those of `set`, which are the Cortex-M4's.
/// Elsewhere primitives may need less workspace and more stack.
constexpr bool has_memory(const polykem_embedded_set& set, size_t keygen, size_t encaps, size_t decaps,
                          size_t workspace, size_t stack) {
#ifdef POLYKEM_CORTEX_M4
  if (set.keygen_workspace_bytes != keygen || set.encaps_workspace_bytes != encaps ||
      set.decaps_workspace_bytes != decaps || set.workspace_bytes != workspace || set.stack_bytes != stack)
    return false;
#endif
  return set.keygen_workspace_bytes <= keygen && set.encaps_workspace_bytes <= encaps &&
         set.decaps_workspace_bytes <= decaps && set.workspace_bytes <= workspace && set.stack_bytes >= stack;
}

}  // namespace polykem::embedded

/// Defines polykem_embedded_NAME as MAKE(name, bytes of stack). Its constants begin with POLYKEM_EMBEDDED_UPPER.
#define POLYKEM_EMBEDDED_DEFINE(NAME, UPPER, MAKE)                                                                   \
  constexpr polykem_embedded_set polykem_embedded_##NAME = MAKE(#NAME, POLYKEM_EMBEDDED_##UPPER##_STACK_BYTES);      \
  static_assert(polykem::embedded::has_records(polykem_embedded_##NAME, POLYKEM_EMBEDDED_##UPPER##_PUBLIC_KEY_BYTES, \
                                               POLYKEM_EMBEDDED_##UPPER##_SECRET_KEY_BYTES,                          \
                                               POLYKEM_EMBEDDED_##UPPER##_CIPHERTEXT_BYTES,                          \
                                               POLYKEM_EMBEDDED_##UPPER##_SHARED_SECRET_BYTES));                     \
  static_assert(polykem::embedded::has_memory(                                                                       \
      polykem_embedded_##NAME, POLYKEM_EMBEDDED_##UPPER##_KEYGEN_WORKSPACE_BYTES,                                    \
      POLYKEM_EMBEDDED_##UPPER##_ENCAPS_WORKSPACE_BYTES, POLYKEM_EMBEDDED_##UPPER##_DECAPS_WORKSPACE_BYTES,          \
      POLYKEM_EMBEDDED_##UPPER##_WORKSPACE_BYTES, POLYKEM_EMBEDDED_##UPPER##_STACK_BYTES))
