// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.hpp"
#include "core/item_by_item.hpp"
#include "schemes/saber/kem.hpp"
#include "schemes/saber/ref/arithmetic.hpp"

namespace polykem::saber::ref {
inline namespace POLYKEM_ISA {

template <SaberParams P>
constexpr RecordBytes record_bytes(Op op) {
  const size_t coins = op == Op::kKeygen ? kKeygenCoinBytes : op == Op::kEncaps ? kEncapsCoinBytes : 0;
  return {P.public_key_bytes(), P.secret_key_bytes(), P.ciphertext_bytes(), kSymBytes, coins};
}

/// Operations that compute the items of a chunk one after the other; the engine's chunks have four.
template <SaberParams P, class Prims>
using Items =
    SharedKeyFirst<ItemByItem<Operations<Kem<Steps<P, Arithmetic<P, Prims>>>, typename Arithmetic<P, Prims>::State>, 4,
                              record_bytes<P>>,
                   Keys<P, Prims>>;

template <SaberParams P>
constexpr SchemeBackend backend() {
  static_assert(saber::Arithmetic<Arithmetic<P, PortablePrims>>);
  SchemeBackend result = scheme_backend<Items<P, PortablePrims>>(cpu::kRef);
  result.expanded_public_key = Keys<P, PortablePrims>::kExpandedPublicKey;
  result.expanded_secret_key = Keys<P, PortablePrims>::kExpandedSecretKey;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::ref
