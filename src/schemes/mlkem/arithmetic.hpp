// SPDX-License-Identifier: Apache-2.0
// The requirements of steps.hpp, which is written once, on an arithmetic. It decides how many items are computed at a
// time, how their polynomials lie in memory and which instructions compute them.
//
// Coefficients are in one of three ranges: `canonical` is [0, q); `small` is the range of a sampled polynomial, [-eta,
// eta], as words mod q or as signed words; `product` is the range that the arithmetic's own multiply() leaves and that
// only its inverse_ntt() and add_to_product() accept. Where polynomials are always canonical, all three are that range.
#pragma once

#include <concepts>

#include "schemes/fo_transform.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem {
inline namespace POLYKEM_ISA {

/// Samples and loads the keys of a state's items. Arith has a type State.
template <class Arith>
concept KeyArithmetic = fo::Hashing<Arith> &&
    requires(typename Arith::State& state, ConstByteRows rho, size_t l, bool valid) {
  /// Samples A of each item l from row l of rho into the item's own key; A's transpose if the last argument is true.
  /// Entry (i, j) of A is SampleNTT(rho, j, i), canonical. A is public. [FIPS203, Alg 13, L3-7; Alg 14, L4-8]
  Arith::sample_matrix(state, rho, true);
  /// Loads t^ of each item's key, from the record unless the key is expanded; coefficients are below 2^12. In the
  /// encaps of ML-KEM, the key becomes invalid unless t^ is canonical. [FIPS203, Alg 14, L2; 7.2]
  Arith::load_pk(state);
  /// Loads s^, t^ and z of each item's key, from the record unless the key is expanded; coefficients are below 2^12.
  /// [FIPS203, Alg 15, L5]
  Arith::load_sk(state);
  /// Returns true if item l's key is well-formed. [FIPS203, 7.2, 7.3]
  { state.valid(l) } -> std::same_as<bool>;
  state.set_valid(l, valid);
  /// Returns space for z and c of each item. [FIPS203, Alg 18, L7]
  { state.z_and_c() } -> std::same_as<ByteRows>;
};

/// An arithmetic that samples, transforms and multiplies the polynomials of a state one after the other. A Poly is one
/// polynomial of every item. One that computes in another order has its own steps.hpp instead.
template <class Arith>
concept Arithmetic = KeyArithmetic<Arith> && requires(typename Arith::State& state, typename Arith::Poly& a,
                                                      const typename Arith::Poly& b, ByteRows out, ConstByteRows in) {
  /// Return polynomials: s() returns s or y, which are k polynomials; e() returns e, or e1 and then e2; u() returns t,
  /// or u and then v. These last two have space for k + 1 polynomials. w() returns one polynomial.
  { state.s() } -> std::same_as<typename Arith::Poly*>;
  { state.e() } -> std::same_as<typename Arith::Poly*>;
  { state.u() } -> std::same_as<typename Arith::Poly*>;
  { state.w() } -> std::same_as<typename Arith::Poly&>;
  /// Returns space for the ciphertexts of the second encryption. [FIPS203, Alg 18, L8]
  { state.reencrypted_ct() } -> std::same_as<ByteRows>;

  /// Samples s[n] = SamplePolyCBD_eta1(PRF(sigma, n)) for n < k and e[n] = SamplePolyCBD_eta(PRF(sigma, k + n)) for
  /// n < others, where eta and others are the template arguments and sigma is the second half of the item's seeds. The
  /// results are small. [FIPS203, Alg 13, L8-15; Alg 14, L9-17]
  Arith::template sample_noise<2, 1>(state);
  /// Transforms a polynomial in place; it is small or canonical before. [FIPS203, Alg 9]
  Arith::ntt(a);
  /// Makes a polynomial that ntt() left canonical, in place.
  Arith::canonical(a);
  /// Computes out[i] = the sum over j < k of a[i k + j] b[j] for as many i as the template argument says. a is a matrix
  /// of the state, b is as ntt() leaves it, and the results are products. state.own_matrix() is A of a new key,
  /// state.matrix() is A^T and then t^, and state.secret() is s^. [FIPS203, Alg 11; 2.4.7]
  Arith::template multiply<1>(state.u(), state.own_matrix(), state.s());
  Arith::template multiply<1>(state.u(), state.matrix(), state.s());
  Arith::template multiply<1>(&state.w(), state.secret(), state.u());
  /// Adds b, which ntt() left, to the product a; canonical afterwards. [FIPS203, Alg 13, L18]
  Arith::add_to_product(a, b);
  /// Transforms a product back in place; the result is fit for add() and store_message(). [FIPS203, Alg 10]
  Arith::inverse_ntt(a);
  /// Adds b, which is small, to a, which inverse_ntt() left; canonical afterwards. [FIPS203, Alg 14, L19, L21]
  Arith::add(a, b);
  /// Adds Decompress_1(m) to v, which is canonical before and after. state.w() is free for use. [FIPS203, Alg 14,
  /// L20-21]
  Arith::add_message(state, a);
  /// Stores m = Compress_1(v - w), where v is canonical and w is as inverse_ntt() left it. [FIPS203, Alg 15, L6-7]
  Arith::store_message(state, a, a);
  /// Stores ByteEncode_12 of canonical polynomials. [FIPS203, Alg 5]
  Arith::template byte_encode<12>(state, out, a);
  /// compress() stores ByteEncode_d(Compress_d()), d = 4, 5, 10 or 11, of canonical polynomials, which it may
  /// overwrite. decompress() loads Decompress_d(ByteDecode_d()), which is canonical. [FIPS203, 4.2.1]
  Arith::template compress<4>(state, out, a);
  Arith::template decompress<4>(state, a, in);
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem
