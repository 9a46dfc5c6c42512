// SPDX-License-Identifier: Apache-2.0
// The least work of FrodoKEM's stages, in permutations or AES, and multiply-adds.
#pragma once

#include <string_view>

#include "floors_units.hpp"
#include "schemes/frodo/params.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::bench {

/// Returns false if the stage is unknown. shared: the batch has one key, and work that depends only on the key is not
/// counted. Entries of A have two bytes and those of S one, so a product of two entries takes two multiply-adds.
/// Operations: one for each entry of the table for each sample, two for each coefficient that is packed, unpacked or
/// compared.
constexpr bool frodo_work(const frodo::Set& set, Op op, std::string_view stage, bool shared, Work& work) {
  const double n = static_cast<double>(set.n()), bar = frodo::kBar, square = frodo::kSquare;
  const double rate = set.p.shake256 ? 136 : 168, secret = static_cast<double>(set.p.secret_bytes);
  const double pk = static_cast<double>(set.public_key_bytes()), ct = static_cast<double>(set.ciphertext_bytes());
  const double samples = static_cast<double>(op == Op::kKeygen ? set.keygen_samples() : set.encaps_samples());
  if (stage == "randombytes") {
    work.random_blocks = random_blocks(op == Op::kKeygen ? set.keygen_coin_bytes() : set.encaps_coin_bytes());
    return true;
  }
  if (stage == "shake.seed_a") return work.permutations = 1, true;
  if (stage == "shake.seed_se") return work.permutations = 1, true;
  if (stage == "shake.r") return work.permutations = squeezed(2 * samples, rate), true;
  if (stage == "shake.pkh") {
    if (!shared) work.permutations = absorbed(pk, rate);
    return true;
  }
  if (stage == "shake.ss") return work.permutations = absorbed(ct + secret, rate), true;
  if (stage == "sample_matrix") return work.operations = samples * static_cast<double>(set.p.cdf.size), true;
  if (stage == "gen_a") {
    if (shared) return true;
    if (set.gen_a == frodo::GenA::kAes) return work.aes_bits = 16 * n * n, true;
    return work.permutations = n * squeezed(2 * n, 168), true;
  }
  if (stage == "matmul.as" || stage == "matmul.sa") return work.macs = 2 * bar * n * n, true;
  if (stage == "matmul.sb" || stage == "matmul.bs") return work.macs = 2 * square * n, true;
  if (stage == "pack" || stage == "pack.c1" || stage == "unpack.b" || stage == "unpack.c" || stage == "compare")
    return work.operations = 2 * bar * n, true;
  if (stage == "encode") work.skipped_bytes = static_cast<double>(set.c2_offset());  // its step does not touch c1
  if (stage == "pack.c2" || stage == "encode" || stage == "decode") return work.operations = 2 * square, true;
  return stage == "store_sk" || stage == "select";
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
