// SPDX-License-Identifier: Apache-2.0
// What a layout must offer, so that steps.hpp can be written once. A layout says how many items are computed at a time,
// how their polynomials lie in memory and which instructions compute them.
//
// Coefficients are in one of three ranges: `canonical` is [0, q); `small` is what a sampled polynomial has, [-eta,
// eta], as words mod q or as signed words; `product` is what the layout's own multiply() leaves, which only its
// inverse_ntt() and add_to_product() take. A layout whose polynomials are always canonical uses that for all three.
#pragma once

#include <concepts>

#include "schemes/fo_transform.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem {
inline namespace POLYKEM_ISA {

/// The keys of a chunk's items. L has the types Chunk and what fo::Layout requires.
template <class L>
concept KeyLayout = fo::Layout<L> && requires(typename L::Chunk& c, ConstByteRows rho, size_t l, bool valid) {
  /// A of each item from row l of rho, or its transpose: entry (i, j) = SampleNTT(rho, j, i), all canonical, to the
  /// items' own keys. Public. [FIPS203, Alg 13, L3-7; Alg 14, L4-8]
  L::sample_matrix(c, rho, true);
  /// t^ of each item's key, from its record unless it is expanded, below 2^12. In encaps, of ML-KEM, the key becomes
  /// invalid unless t^ is canonical. [FIPS203, Alg 14, L2; 7.2]
  L::load_pk(c);
  /// s^, likewise below 2^12, t^ and z of each item's key. [FIPS203, Alg 15, L5]
  L::load_sk(c);
  /// Whether item l's key is well-formed. [FIPS203, 7.2, 7.3]
  { c.valid(l) } -> std::same_as<bool>;
  c.set_valid(l, valid);
  /// Space for z and c of each item. [FIPS203, Alg 18, L7]
  { c.z_and_c() } -> std::same_as<ByteRows>;
};

/// The polynomials of a chunk, where they are sampled, transformed and multiplied one after the other. Poly: one
/// polynomial of every item. What a layout computes in another order is not here, but in its own ops.hpp.
template <class L>
concept Layout = KeyLayout<L> &&
    requires(typename L::Chunk& c, typename L::Poly& a, const typename L::Poly& b, ByteRows out, ConstByteRows in) {
  /// s or y: k polynomials; e, or e1 and then e2; t, or u and then v: k + 1 polynomials; w: one.
  { c.s() } -> std::same_as<typename L::Poly*>;
  { c.e() } -> std::same_as<typename L::Poly*>;
  { c.u() } -> std::same_as<typename L::Poly*>;
  { c.w() } -> std::same_as<typename L::Poly&>;
  /// Space for the second encryption's ciphertexts. [FIPS203, Alg 18, L8]
  { c.reencrypted_ct() } -> std::same_as<ByteRows>;

  /// <eta, others>: s[n] = SamplePolyCBD_eta1(PRF(sigma, n)) for n < k, e[n] = SamplePolyCBD_eta(PRF(sigma, k + n)) for
  /// n < others; sigma is the second half of the item's seeds. Small. [FIPS203, Alg 13, L8-15; Alg 14, L9-17]
  L::template sample_noise<2, 1>(c);
  /// In place; small or canonical before. [FIPS203, Alg 9]
  L::ntt(a);
  /// What ntt() leaves, canonical.
  L::canonical(a);
  /// out[i] = the sum over j < k of a[i k + j] b[j] for i < 1; a is a matrix of the chunk, b as ntt() leaves it;
  /// products. c.own_matrix(): A of a new key. c.matrix(): A^T, then t^. c.secret(): s^. [FIPS203, Alg 11; 2.4.7]
  L::template multiply<1>(c.u(), c.own_matrix(), c.s());
  L::template multiply<1>(c.u(), c.matrix(), c.s());
  L::template multiply<1>(&c.w(), c.secret(), c.u());
  /// A product a plus what ntt() left; canonical. [FIPS203, Alg 13, L18]
  L::add_to_product(a, b);
  /// In place; a product before, fit for add() and store_message() afterwards. [FIPS203, Alg 10]
  L::inverse_ntt(a);
  /// a + b: what inverse_ntt() left and small; canonical. [FIPS203, Alg 14, L19, L21]
  L::add(a, b);
  /// v + Decompress_1(m), canonical before and after. c.w() is free. [FIPS203, Alg 14, L20-21]
  L::add_message(c, a);
  /// m = Compress_1(v - w): v canonical, w as inverse_ntt() left it. [FIPS203, Alg 15, L6-7]
  L::store_message(c, a, a);
  /// ByteEncode_12 of canonical polynomials. [FIPS203, Alg 5]
  L::template byte_encode<12>(c, out, a);
  /// ByteEncode_d(Compress_d()), d = 4, 5, 10 or 11, of canonical polynomials, which may be overwritten; and its
  /// inverse, canonical. [FIPS203, 4.2.1]
  L::template compress<4>(c, out, a);
  L::template decompress<4>(c, a, in);
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem
