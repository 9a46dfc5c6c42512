// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemes/item_state.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem {
inline namespace POLYKEM_ISA {

/// The polynomials of an item.
template <Dims D>
struct Polys {
  Poly s[D.k];      ///< s in keygen, otherwise y
  Poly e[D.k + 1];  ///< e in keygen, otherwise e1, e2
  Poly u[D.k + 1];  ///< t in keygen, otherwise u, v
  Poly w;           ///< s^T u, or the message as a polynomial
  uint8_t reencrypted_ct[1][D.ciphertext_bytes()];
};

/// The state of one item. Besides the members that ItemState requires, Workspace has
/// z_and_c(), which returns space for z and c.
template <MlkemParams P, class Workspace>
struct SingleItemState : ItemState<P, PublicKey<P.k>, SecretKey<P.k>, Workspace> {
  using SingleItemState::ItemState::ItemState;

  Poly* e() { return this->work.poly.e; }
  Poly& w() { return this->work.poly.w; }
  ByteRows z_and_c() { return this->work.z_and_c(); }
  bool valid(size_t) const { return this->decapsulates() ? this->secret_key().valid : this->public_key().valid; }
  void set_valid(size_t, bool valid) { this->work.own.valid = valid; }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem
