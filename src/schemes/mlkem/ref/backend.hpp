// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.hpp"
#include "core/operations.hpp"
#include "schemes/mlkem/kem.hpp"
#include "schemes/mlkem/ref/ops.hpp"

namespace polykem::mlkem::ref {

template <MlkemParams P>
constexpr SchemeBackend backend() {
  using Prims = PortablePrims;
  SchemeBackend result = scheme_backend<Operations<Kem<Ops<P, Prims>>, Chunk<P, Prims>>>(cpu::kRef);
  result.public_form = Keys<P, Prims>::kPublicForm;
  result.secret_form = Keys<P, Prims>::kSecretForm;
  return result;
}

}  // namespace polykem::mlkem::ref
