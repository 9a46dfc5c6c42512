// SPDX-License-Identifier: Apache-2.0
// The requirements of steps.hpp, which is written once, on a layout. A layout says how many items are computed at a
// time, how their polynomials lie in memory and which instructions compute them.
//
// Coefficients are in one of three ranges: `canonical` is [0, q); `small` is the range of a sampled polynomial, [-eta,
// eta], as words mod q or as signed words; `product` is the range that the layout's own multiply() leaves and that only
// its inverse_ntt() and add_to_product() accept. A layout whose polynomials are always canonical uses that range for
// all three.
#pragma once

#include <concepts>

#include "schemes/fo_transform.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem {
inline namespace POLYKEM_ISA {

/// The part of a layout that deals with the keys of a chunk's items. L has a type Chunk and satisfies fo::Layout.
template <class L>
concept KeyLayout = fo::Layout<L> && requires(typename L::Chunk& c, ConstByteRows rho, size_t l, bool valid) {
  /// Samples A of each item l or, if the last argument is true, its transpose from row l of rho into the item's own
  /// key. Entry (i, j) of A is SampleNTT(rho, j, i), canonical. A is public. [FIPS203, Alg 13, L3-7; Alg 14, L4-8]
  L::sample_matrix(c, rho, true);
  /// Loads t^ of each item's key, from the record unless the key is expanded; coefficients are below 2^12. In the
  /// encaps of ML-KEM, the key becomes invalid unless t^ is canonical. [FIPS203, Alg 14, L2; 7.2]
  L::load_pk(c);
  /// Loads s^, t^ and z of each item's key, from the record unless the key is expanded; coefficients are below 2^12.
  /// [FIPS203, Alg 15, L5]
  L::load_sk(c);
  /// Returns true if item l's key is well-formed. [FIPS203, 7.2, 7.3]
  { c.valid(l) } -> std::same_as<bool>;
  c.set_valid(l, valid);
  /// Returns space for z and c of each item. [FIPS203, Alg 18, L7]
  { c.z_and_c() } -> std::same_as<ByteRows>;
};

/// A layout that samples, transforms and multiplies the polynomials of a chunk one after the other. A Poly is one
/// polynomial of every item. A layout that computes in another order has its own ops.hpp instead.
template <class L>
concept Layout = KeyLayout<L> &&
    requires(typename L::Chunk& c, typename L::Poly& a, const typename L::Poly& b, ByteRows out, ConstByteRows in) {
  /// Return polynomials: s() returns s or y, which are k polynomials; e() returns e, or e1 and then e2; u() returns t,
  /// or u and then v. These last two have space for k + 1 polynomials. w() returns one polynomial.
  { c.s() } -> std::same_as<typename L::Poly*>;
  { c.e() } -> std::same_as<typename L::Poly*>;
  { c.u() } -> std::same_as<typename L::Poly*>;
  { c.w() } -> std::same_as<typename L::Poly&>;
  /// Returns space for the ciphertexts of the second encryption. [FIPS203, Alg 18, L8]
  { c.reencrypted_ct() } -> std::same_as<ByteRows>;

  /// Samples s[n] = SamplePolyCBD_eta1(PRF(sigma, n)) for n < k and e[n] = SamplePolyCBD_eta(PRF(sigma, k + n)) for
  /// n < others, where eta and others are the template arguments and sigma is the second half of the item's seeds. The
  /// results are small. [FIPS203, Alg 13, L8-15; Alg 14, L9-17]
  L::template sample_noise<2, 1>(c);
  /// Transforms a polynomial in place; it is small or canonical before. [FIPS203, Alg 9]
  L::ntt(a);
  /// Makes a polynomial that ntt() left canonical, in place.
  L::canonical(a);
  /// Computes out[i] = the sum over j < k of a[i k + j] b[j] for as many i as the template argument says. a is a matrix
  /// of the chunk, b is as ntt() leaves it, and the results are products. c.own_matrix() is A of a new key, c.matrix()
  /// is A^T and then t^, and c.secret() is s^. [FIPS203, Alg 11; 2.4.7]
  L::template multiply<1>(c.u(), c.own_matrix(), c.s());
  L::template multiply<1>(c.u(), c.matrix(), c.s());
  L::template multiply<1>(&c.w(), c.secret(), c.u());
  /// Adds b, which ntt() left, to the product a; canonical afterwards. [FIPS203, Alg 13, L18]
  L::add_to_product(a, b);
  /// Transforms a product back in place; the result is fit for add() and store_message(). [FIPS203, Alg 10]
  L::inverse_ntt(a);
  /// Adds b, which is small, to a, which inverse_ntt() left; canonical afterwards. [FIPS203, Alg 14, L19, L21]
  L::add(a, b);
  /// Adds Decompress_1(m) to v, which is canonical before and after. c.w() is free for use. [FIPS203, Alg 14, L20-21]
  L::add_message(c, a);
  /// Stores m = Compress_1(v - w), where v is canonical and w is as inverse_ntt() left it. [FIPS203, Alg 15, L6-7]
  L::store_message(c, a, a);
  /// Stores ByteEncode_12 of canonical polynomials. [FIPS203, Alg 5]
  L::template byte_encode<12>(c, out, a);
  /// compress() stores ByteEncode_d(Compress_d()), d = 4, 5, 10 or 11, of canonical polynomials, which it may
  /// overwrite. decompress() loads Decompress_d(ByteDecode_d()), which is canonical. [FIPS203, 4.2.1]
  L::template compress<4>(c, out, a);
  L::template decompress<4>(c, a, in);
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem
