// SPDX-License-Identifier: Apache-2.0
// The requirements of steps.hpp, which is written once, on an arithmetic. Coefficients are words that stand for
// integers mod 2^13 (or 2^10); the bits above are arbitrary.
#pragma once

#include <concepts>

#include "schemes/fo_transform.hpp"
#include "schemes/saber/types.hpp"

namespace polykem::saber {
inline namespace POLYKEM_ISA {

/// Arith has a type State and a type Poly, which is one polynomial of every item of a State.
template <class Arith>
concept Arithmetic = fo::Hashing<Arith> &&
    requires(typename Arith::State& state, typename Arith::Poly& a, ByteRows out, ConstByteRows in) {
  /// Return polynomials: s() returns s or s', which are l polynomials; u() returns A^T s, A s' and v', or b' and v,
  /// with space for l + 1 polynomials; cm() returns c_m.
  { state.s() } -> std::same_as<typename Arith::Poly*>;
  { state.u() } -> std::same_as<typename Arith::Poly*>;
  { state.cm() } -> std::same_as<typename Arith::Poly&>;
  /// Return space for the bytes that GenSecret reads, and for the ciphertexts of the second encryption.
  { state.noise() } -> std::same_as<ByteRows>;
  { state.reencrypted_ct() } -> std::same_as<ByteRows>;

  /// Computes SHAKE128 of the first 32 bytes of each row of `in`. The template argument is the number of bytes of
  /// output, 32 or more. [SABER20, GenMatrix, GenSecret]
  Arith::template shake128<32>(out, in, state.count);
  /// Makes A of each item's new key from its seed, which is a row of `in`. [SABER20, GenMatrix]
  Arith::sample_matrix(state, in);
  /// Makes A and loads b of each item's key, from the record unless the key is expanded.
  /// [SABER20, GenMatrix, BS2POLVECp]
  Arith::load_pk(state);
  /// Loads s and z of each item's key, from the record unless the key is expanded. [SABER20, BS2POLVECq]
  Arith::load_sk(state);
  /// Samples a polynomial of the secret from 32 mu bytes. [SABER20, GenSecret]
  Arith::sample_secret(state, a, in);

  /// Computes out[i] = the sum over j < l of entry (i, j) of a matrix times b[j], for as many i as the template
  /// argument says. state.own_matrix() is A^T of a new key, state.matrix() is A and then b, and state.secret() is s.
  /// [SABER20, MatrixVectorMul, InnerProd]
  Arith::template multiply<1>(state, state.u(), state.own_matrix(), state.s());
  Arith::template multiply<1>(state, state.u(), state.matrix(), state.s());
  Arith::template multiply<1>(state, state.u(), state.secret(), state.u());
  /// Rounds a from 13 bits to 10: (a + h1) >> 3. [SABER20, 2.3]
  Arith::round(a);
  /// Computes c_m from v': the highest bits of (v' + h1 - 2^9 m) mod 2^10. [SABER20, Saber.PKE.Enc]
  Arith::round_v(state, a);
  /// Computes m from c_m and v, which is the last polynomial of u(). [SABER20, Saber.PKE.Dec]
  Arith::decode_m(state);
  /// encode() packs as many bits of each coefficient as the template argument says and ignores those above; decode()
  /// unpacks them. [SABER20, POLVECq2BS, POLVECp2BS]
  Arith::template encode<10>(state, out, a);
  Arith::template decode<10>(state, a, in);
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber
