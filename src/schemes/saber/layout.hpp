// SPDX-License-Identifier: Apache-2.0
// What a layout must offer, so that steps.hpp can be written once. Coefficients are words that stand for integers mod
// 2^13 (or 2^10), bits above them arbitrary.
#pragma once

#include <concepts>

#include "schemes/fo_transform.hpp"
#include "schemes/saber/types.hpp"

namespace polykem::saber {
inline namespace POLYKEM_ISA {

/// Poly: one polynomial of every item of a Chunk.
template <class L>
concept Layout = fo::Layout<L> && requires(typename L::Chunk& c, typename L::Poly& a, ByteRows out, ConstByteRows in) {
  /// s or s': l polynomials; A s' and v', or b' and v: l + 1 polynomials; c_m: one.
  { c.s() } -> std::same_as<typename L::Poly*>;
  { c.u() } -> std::same_as<typename L::Poly*>;
  { c.cm() } -> std::same_as<typename L::Poly&>;
  /// Space for what GenSecret reads, and for the second encryption's ciphertexts.
  { c.noise() } -> std::same_as<ByteRows>;
  { c.reencrypted_ct() } -> std::same_as<ByteRows>;

  /// 32 bytes (or more) of SHAKE128 of each row's first 32 bytes. [SABER20, GenMatrix, GenSecret]
  L::template shake128<32>(out, in, c.count);
  /// A of each item's new key from its seed in a row of `in`. [SABER20, GenMatrix]
  L::sample_matrix(c, in);
  /// A and b of each item's key, from its record unless it is expanded. [SABER20, GenMatrix, BS2POLVECp]
  L::load_pk(c);
  /// s and z, likewise. [SABER20, BS2POLVECq]
  L::load_sk(c);
  /// A polynomial of the secret from 32 mu bytes. [SABER20, GenSecret]
  L::sample_secret(c, a, in);

  /// out[i] = the sum over j < l of row i of a matrix times b, i < 1. c.own_matrix(): A^T of a new key. c.matrix(): A,
  /// then b. c.secret(): s. [SABER20, MatrixVectorMul, InnerProd]
  L::template multiply<1>(c, c.u(), c.own_matrix(), c.s());
  L::template multiply<1>(c, c.u(), c.matrix(), c.s());
  L::template multiply<1>(c, c.u(), c.secret(), c.u());
  /// (a + h1) >> 3: 13 bits to 10. [SABER20, 2.3]
  L::round(a);
  /// (v' + h1 - 2^9 m) mod 2^10, the highest bits. [SABER20, Saber.PKE.Enc]
  L::round_v(c, a);
  /// m from v, the last of u(), and c_m. [SABER20, Saber.PKE.Dec]
  L::decode_m(c);
  /// kBits bits a coefficient, those above ignored; and the inverse. [SABER20, POLVECq2BS, POLVECp2BS]
  L::template encode<10>(c, out, a);
  L::template decode<10>(c, a, in);
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber
