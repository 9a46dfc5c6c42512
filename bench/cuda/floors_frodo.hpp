// SPDX-License-Identifier: Apache-2.0
// The least work of FrodoKEM's stages, in permutations or AES, and multiply-adds.
#pragma once

#include <string_view>

#include "floors_units.hpp"
#include "schemes/frodo/params.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::bench {

/// Look-ups of a block of AES-128 in tables. The blocks of a row and of a column of A share those of two rounds.
inline constexpr double kAes128LookUps = 8 * 16;

/// Returns false if the stage is unknown. shared: the batch has one key, and work that depends only on the key is not
/// counted. Entries of A have two bytes and those of S one, so a product of two entries takes two multiply-adds.
/// Operations: one for each entry of the table for two samples, which a word holds; one for a coefficient that is
/// packed or unpacked, unless it has 16 bits, which need not be moved.
constexpr bool frodo_work(const frodo::Set& set, Op op, std::string_view stage, bool shared, Work& work) {
  const double n = static_cast<double>(set.n()), bar = frodo::kBar, square = frodo::kSquare;
  const double rate = set.p.shake256 ? 136 : 168, secret = static_cast<double>(set.p.secret_bytes);
  const double pk = static_cast<double>(set.public_key_bytes()), ct = static_cast<double>(set.ciphertext_bytes());
  const double b = static_cast<double>(set.b_bytes()), c = static_cast<double>(set.c_bytes()), s = 2 * bar * n;
  const double samples = static_cast<double>(op == Op::kKeygen ? set.keygen_samples() : set.encaps_samples());
  const double moved = set.p.logq == 16 ? 0 : 1;
  if (stage == "randombytes") {
    work.random_blocks = random_blocks(op == Op::kKeygen ? set.keygen_coin_bytes() : set.encaps_coin_bytes());
    return true;
  }
  if (stage == "shake.seed_a" || stage == "shake.seed_se") return work.permutations = 1, true;
  if (stage == "shake.r") return work.permutations = squeezed(2 * samples, rate), true;
  if (stage == "shake.pkh") {
    if (!shared) work = {.permutations = absorbed(pk, rate), .bytes = pk};
    return true;
  }
  if (stage == "shake.ss") return work = {.permutations = absorbed(ct + secret, rate), .bytes = ct}, true;
  if (stage == "sample_matrix") return work.operations = samples * static_cast<double>(set.p.cdf.size) / 2, true;
  if (stage == "gen_a") {
    if (shared) return true;
    if (set.gen_a == frodo::GenA::kAes) return work.lookups = n * n / 8 * kAes128LookUps, true;
    return work.permutations = n * squeezed(2 * n, 168), true;
  }
  if (stage == "matmul.as") return work.macs = 2 * bar * n * n, true;
  // Decapsulation compares c1 here.
  if (stage == "matmul.sa") return work = {.macs = 2 * bar * n * n, .bytes = op == Op::kDecaps ? b : 0}, true;
  if (stage == "matmul.sb") return work.macs = 2 * square * n, true;
  if (stage == "matmul.bs") return work = {.macs = 2 * square * n, .bytes = shared ? 0 : s}, true;
  if (stage == "pack") return work = {.operations = moved * bar * n, .bytes = 2 * b}, true;
  if (stage == "pack.c1") return work = {.operations = moved * bar * n, .bytes = b}, true;
  if (stage == "unpack.b") {
    if (!shared) work = {.operations = moved * bar * n, .bytes = b};
    return true;
  }
  if (stage == "unpack.c") return work = {.operations = moved * (bar * n + square), .bytes = b + c}, true;
  if (stage == "pack.c2" || stage == "compare") return work = {.operations = moved * square, .bytes = c}, true;
  if (stage == "encode" || stage == "decode") return work.operations = square, true;
  if (stage == "store_sk") return work.bytes = s, true;
  return stage == "select";
}

constexpr bool frodo_floors_are_complete() {
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    for (const Stage& stage : frodo::kStages.of(op)) {
      Work work;
      if (!frodo_work(frodo::kSets[0], op, stage.name, false, work)) return false;
    }
  }
  return true;
}
static_assert(frodo_floors_are_complete());

}  // namespace polykem::bench
