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
/// counted. Operations: 2 for each candidate of rejection sampling (extract, compare), 1 for a sample of noise (eight
/// at a time in a word), 1 for a coefficient that is packed, unpacked or added, 2 for one of the message (subtract,
/// round). Multiply-adds: 4 for a product of linear factors, 1 for a coefficient that is compressed. t is unpacked
/// where it is multiplied.
constexpr bool mlkem_work(const mlkem::MlkemParams& p, Op op, std::string_view stage, bool shared, Work& work) {
  constexpr double kRate = 136, kTransform = 7 * 128, kCandidates = 256 * 4096.0 / mlkem::kQ;
  const double k = static_cast<double>(p.k), n = mlkem::kN;
  const double pk = static_cast<double>(p.public_key_bytes()), ct = static_cast<double>(p.ciphertext_bytes());
  const double vector = static_cast<double>(p.vector_bytes()), sk = static_cast<double>(p.secret_key_bytes());
  const bool keygen = op == Op::kKeygen, kyber = p.kyber();
  const auto noise = [](unsigned eta) { return squeezed(64 * eta, kRate); };
  if (stage == "randombytes") return work = {.permutations = !keygen && kyber ? 1.0 : 0, .random_blocks = 1}, true;
  if (stage == "sha3_512.G") return work.permutations = 1, true;
  if (stage == "sample_ntt") {
    if (!shared) work = {.permutations = 3 * k * k, .operations = 2 * kCandidates * k * k};
    return true;
  }
  if (stage == "sample_poly_cbd") {
    work.permutations = keygen ? 2 * k * noise(p.eta1) : k * noise(p.eta1) + (k + 1) * noise(mlkem::Dims::kEta2);
    return work.operations = n * (keygen ? 2 * k : 2 * k + 1), true;
  }
  if (stage == "ntt") return work.butterflies = kTransform * (keygen ? 2 * k : k), true;
  if (stage == "ntt.u") return work.butterflies = kTransform * k, true;
  if (stage == "inverse_ntt") return work.butterflies = kTransform * (k + 1), true;
  if (stage == "inverse_ntt.su") return work.butterflies = kTransform, true;
  if (stage == "multiply_ntts") {
    work.multiplications = 4 * n / 2 * (keygen ? k * k : k * k + k);
    if (!keygen && !shared) work.operations = n * k, work.bytes = vector;
    return true;
  }
  if (stage == "multiply_ntts.su") return work.multiplications = 4 * n / 2 * k, true;
  if (stage == "byte_encode") return work = {.operations = 2 * n * k, .bytes = pk + sk - mlkem::kSymBytes}, true;
  if (stage == "byte_decode") {
    if (op == Op::kDecaps) work = {.operations = n * (k + 1), .bytes = ct};
    if (op == Op::kDecaps && !shared) work.operations += n * k, work.bytes += vector;
    return true;
  }
  if (stage == "compress_byte_encode" || stage == "compress_compare")
    return work = {.multiplications = n * (k + 1), .operations = n * (k + 1), .bytes = ct}, true;
  if (stage == "add") return work.operations = n * (k + 1), true;
  if (stage == "compress.m") return work.operations = 2 * n, true;
  if (stage == "sha3_256.H") {
    if (!shared && (op != Op::kDecaps || !kyber)) work = {.permutations = absorbed(pk, kRate), .bytes = pk};
    return true;
  }
  if (stage == "shake256.J") return work = {.permutations = absorbed(ct + (kyber ? 0 : 32), kRate), .bytes = ct}, true;
  if (stage == "shared_secret") {
    if (kyber) work = {.permutations = absorbed(ct, kRate) + 1, .bytes = ct};
    return true;
  }
  if (stage == "cmov") return work.permutations = kyber ? 1 : 0, true;
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
