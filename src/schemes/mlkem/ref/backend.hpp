// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.hpp"
#include "core/item_by_item.hpp"
#include "schemes/mlkem/kem.hpp"
#include "schemes/mlkem/keys.hpp"
#include "schemes/mlkem/record_bytes.hpp"
#include "schemes/mlkem/ref/arithmetic.hpp"

namespace polykem::mlkem::ref {

template <MlkemParams P>
constexpr SchemeBackend backend() {
  using Arithmetic = ref::Arithmetic<P>;
  using Keys = mlkem::Keys<P, Arithmetic>;
  using SingleItem = Operations<Kem<Steps<P, Arithmetic>>, typename Arithmetic::State>;
  using Items = SharedKeyFirst<ItemByItem<SingleItem, 8, record_bytes<P>>, Keys>;
  SchemeBackend result = scheme_backend<Items>(cpu::kRef);
  result.expanded_public_key = Keys::kExpandedPublicKey;
  result.expanded_secret_key = Keys::kExpandedSecretKey;
  return result;
}

}  // namespace polykem::mlkem::ref
