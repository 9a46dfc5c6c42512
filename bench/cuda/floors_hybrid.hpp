// SPDX-License-Identifier: Apache-2.0
// The least work of the hybrids' stages: that of ML-KEM, and multiplications of 32-bit words for X25519.
#pragma once

#include <string_view>

#include "floors_mlkem.hpp"
#include "schemes/hybrid/params.hpp"
#include "schemes/hybrid/stages.hpp"

namespace polykem::bench {

/// The number of products of 32-bit words of an operation in the field. A factor has 8 words, 2^256 is 38 modulo p, and
/// in a square, products of two different words are computed once.
inline constexpr double kFoldProducts = 8, kMulProducts = 64 + kFoldProducts, kSquareProducts = 36 + kFoldProducts;
inline constexpr double kInvertProducts = 254 * kSquareProducts + 11 * kMulProducts;
/// The ladder: 5 products, 4 squares and a product with 121665 for each of 255 bits.
inline constexpr double kSecretProducts =
    255 * (5 * kMulProducts + 4 * kSquareProducts + 8) + kInvertProducts + kMulProducts;
/// A multiple of the base point: 64 additions of 7 products each.
inline constexpr double kPointProducts = 64 * 7 * kMulProducts + kInvertProducts + kMulProducts;

/// Returns the work of ML-KEM-768 without its bytes, which are those of the hybrid's records.
constexpr Work mlkem768_work(Op op, bool shared) {
  Work all;
  for (const Stage& stage : mlkem::kStages.of(op)) {
    Work work;
    mlkem_work(mlkem::kMlkem768, op, stage.name, shared, work);
    all += work;
  }
  all.bytes = 0;
  return all;
}

/// Returns false for an unknown stage, and for hybrids with other components. shared: the batch has one key, and work
/// that depends only on the key is not counted.
constexpr bool hybrid_work(const hybrid::HybridParams& p, Op op, std::string_view stage, bool shared, Work& work) {
  if (p.curve != ecdh::Curve::kX25519) return false;
  constexpr double kEk = mlkem::kMlkem768.public_key_bytes(), kDk = mlkem::kMlkem768.secret_key_bytes();
  constexpr double kCt = mlkem::kMlkem768.ciphertext_bytes();
  if (stage == "randombytes") {
    work.random_blocks = random_blocks(op == Op::kKeygen ? p.keygen_coin_bytes() : p.encaps_coin_bytes());
    return true;
  }
  if (stage == "expand_seed") {
    if (shared) return true;
    if (!p.hpke()) return work.bytes = op == Op::kDecaps ? kDk : 0, true;
    if (op == Op::kDecaps) work = mlkem768_work(Op::kKeygen, false), work.products = kPointProducts;
    return work.permutations += 1, true;
  }
  if (stage == "kem_keygen" || stage == "kem_encaps" || stage == "kem_decaps") {
    work = mlkem768_work(op, shared);
    work.bytes = op == Op::kDecaps ? kCt : op == Op::kEncaps && !shared ? kEk : 0;
    return true;
  }
  if (stage == "ecdh_keygen") {
    work.products = kPointProducts;
    if (op == Op::kKeygen) work.bytes = kEk + (p.hpke() ? 0 : kDk);
    return true;
  }
  if (stage == "ecdh_derive") return work.products = kSecretProducts, true;
  if (stage == "combine") {
    work.permutations = p.hpke() ? 1 : 0;
    work.bytes = static_cast<double>(p.shared_secret_bytes()) + (op == Op::kEncaps ? kCt : 0);
    return true;
  }
  return false;
}

constexpr bool hybrid_floors_are_complete() {
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    for (const Stage& stage : hybrid::kStages.of(op)) {
      Work work;
      if (!hybrid_work(hybrid::kSets[0], op, stage.name, false, work)) return false;
    }
  }
  return true;
}
static_assert(hybrid_floors_are_complete());

}  // namespace polykem::bench
