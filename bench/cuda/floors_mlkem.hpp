// SPDX-License-Identifier: Apache-2.0
// The least work of the stages of ML-KEM and Kyber, in permutations, butterflies and integer operations.
#pragma once

#include <string_view>
#include <utility>

#include "floors_units.hpp"
#include "schemes/mlkem/params.hpp"
#include "schemes/mlkem/stages.hpp"

namespace polykem::bench {

inline constexpr std::pair<const char*, mlkem::MlkemParams> kMlkemSets[] = {
    {"mlkem512", mlkem::kMlkem512}, {"mlkem768", mlkem::kMlkem768}, {"mlkem1024", mlkem::kMlkem1024},
    {"kyber512", mlkem::kKyber512}, {"kyber768", mlkem::kKyber768}, {"kyber1024", mlkem::kKyber1024},
};

/// Returns false if the stage is unknown. shared: the batch has one public key, and work that depends only on it is not
/// counted. Operations: 4 for each candidate of rejection sampling (extract, compare, count, store), 8 for a product of
/// linear factors, 1.5 for a sample of noise (eight at a time in a word, then separated), 2 for a coefficient that is
/// packed or unpacked (shift, mask), 3 for one that is added. t is unpacked where it is multiplied.
constexpr bool mlkem_work(const mlkem::MlkemParams& p, Op op, std::string_view stage, bool shared, Work& work) {
  constexpr double kRate = 136, kTransform = 7 * 128, kCandidates = 3 * 168 / 1.5;
  const double k = static_cast<double>(p.k), n = mlkem::kN;
  const double pk = static_cast<double>(p.public_key_bytes()), ct = static_cast<double>(p.ciphertext_bytes());
  const bool keygen = op == Op::kKeygen, kyber = p.kyber();
  const auto noise = [](unsigned eta) { return squeezed(64 * eta, kRate); };
  if (stage == "randombytes") return work = {.permutations = !keygen && kyber ? 1.0 : 0, .random_blocks = 1}, true;
  if (stage == "sha3_512.G") return work.permutations = 1, true;
  if (stage == "sample_ntt") {
    if (!shared) work = {.permutations = 3 * k * k, .operations = 4 * kCandidates * k * k};
    return true;
  }
  if (stage == "sample_poly_cbd") {
    work.permutations = keygen ? 2 * k * noise(p.eta1) : k * noise(p.eta1) + (k + 1) * noise(mlkem::Dims::kEta2);
    return work.operations = 1.5 * n * (keygen ? 2 * k : 2 * k + 1), true;
  }
  if (stage == "ntt") return work.butterflies = kTransform * (keygen ? 2 * k : k), true;
  if (stage == "ntt.u") return work.butterflies = kTransform * k, true;
  if (stage == "inverse_ntt") return work.butterflies = kTransform * (k + 1), true;
  if (stage == "inverse_ntt.su") return work.butterflies = kTransform, true;
  if (stage == "multiply_ntts")
    return work.operations = 8 * n / 2 * (keygen ? k * k : k * k + k) + (keygen ? 0 : 2 * n * k), true;
  if (stage == "multiply_ntts.su") return work.operations = 8 * n / 2 * k, true;
  if (stage == "byte_encode") return work.operations = 2 * n * 2 * k, true;
  if (stage == "byte_decode") return work.operations = op == Op::kEncaps ? 0 : 2 * n * (2 * k + 1), true;
  if (stage == "compress_byte_encode" || stage == "compress_compare") return work.operations = 2 * n * (k + 1), true;
  if (stage == "add") return work.operations = 3 * n * (k + 1), true;
  if (stage == "compress.m") return work.operations = 3 * n, true;
  if (stage == "sha3_256.H") {
    if (!shared && (op != Op::kDecaps || !kyber)) work.permutations = absorbed(pk, kRate);
    return true;
  }
  if (stage == "shake256.J") return work.permutations = absorbed(ct + (kyber ? 0 : 32), kRate), true;
  if (stage == "shared_secret") return work.permutations = kyber ? absorbed(ct, kRate) + 1 : 0, true;
  if (stage == "cmov") {
    work.permutations = kyber ? 1 : 0;
    if (kyber && !shared) work.skipped_bytes = static_cast<double>(p.secret_key_bytes() - 32);  // it reads only z
    return true;
  }
  return false;
}

constexpr bool mlkem_floors_are_complete() {
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    for (const Stage& stage : mlkem::kStages.of(op)) {
      Work work;
      if (!mlkem_work(mlkem::kMlkem768, op, stage.name, false, work)) return false;
    }
  }
  return true;
}
static_assert(mlkem_floors_are_complete());

}  // namespace polykem::bench
