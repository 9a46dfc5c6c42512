// SPDX-License-Identifier: Apache-2.0
// Operations of a vector backend: one item per lane, and small batches item after item.
#pragma once

#include "core/operations.hpp"
#include "schemes/saber/interleaved/ops.hpp"
#include "schemes/saber/kem.hpp"
#include "schemes/saber/ref/ops.hpp"
#include "tuning/small_batches.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

template <SaberParams P, class Isa, tuning::Cpu kCpu>
constexpr SchemeBackend backend() {
  using Prims = SinglePrims<Isa>;
  using Singles = Operations<Kem<ref::Ops<P, Prims>>, ref::Chunk<P, Prims>>;
  SchemeBackend result = scheme_backend<Operations<Kem<Ops<P, Isa>>, Chunk<P, Isa>>>(Isa::kName);
  add_small_batches<Singles>(result, tuning::row(tuning::kSaber, kCpu).limits(false));
  result.public_form = ref::Keys<P, Prims>::kPublicForm;
  result.secret_form = ref::Keys<P, Prims>::kSecretForm;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
