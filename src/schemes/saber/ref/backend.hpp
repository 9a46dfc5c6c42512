// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.hpp"
#include "core/operations.hpp"
#include "schemes/saber/kem.hpp"
#include "schemes/saber/ref/ops.hpp"

namespace polykem::saber::ref {

template <SaberParams P>
constexpr SchemeBackend backend() {
  using Prims = PortablePrims;
  SchemeBackend result = scheme_backend<Operations<Kem<Ops<P, Prims>>, Chunk<P, Prims>>>(cpu::kRef);
  result.public_form = Keys<P, Prims>::kPublicForm;
  result.secret_form = Keys<P, Prims>::kSecretForm;
  return result;
}

}  // namespace polykem::saber::ref
