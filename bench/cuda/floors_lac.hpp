// SPDX-License-Identifier: Apache-2.0
// The least work of LAC's stages, in hashes, AES, multiply-adds and integer operations.
#pragma once

#include <string_view>

#include "floors_units.hpp"
#include "schemes/lac/params.hpp"
#include "schemes/lac/stages.hpp"

namespace polykem::bench {

/// Operations of a block of SHA-256: 14 for a round (six rotations, four logic operations, sums of three in four), 6
/// for a word of the schedule, whose other four shifts are multiplications, 8 at the end.
inline constexpr double kSha256Operations = 64 * 14 + 48 * 6 + 8;

/// Operations of a block of bit-sliced AES-256 under a secret key, 32 blocks at a time: 14 rounds of 16 S-boxes, mixing
/// of columns and addition of keys.
inline constexpr double kSboxOperations = 73;  ///< as prim/aes/cuda/sbox.cuh counts them
inline constexpr double kSlicedAesOperations = (14 * 16 * kSboxOperations + 13 * 128 * 2.4 + 2 * 128) / 32;

/// Look-ups of a block of AES-256 under a public key, of which the blocks of a key share 27 in the first two rounds.
/// Work::aes_bits counts look-ups, one for each bit of AES-128.
inline constexpr double kAes256LookUps = 14 * 16 - 27;

/// Returns the number of blocks of SHA-256 for a message of `bytes` bytes.
constexpr double sha256_blocks(size_t bytes) {
  return static_cast<double>((bytes + 8) / 64 + 1);
}

/// Returns false if the stage is unknown. shared: the batch has one key, and work that depends only on the key is not
/// counted. Operations: 2 for each 32 coefficients (compare, set) at each place of a vector of fixed weight, 3 for a
/// coefficient that is reduced or demodulated, 1 for one that is compressed, a word of a row for each bit that is
/// encoded or enters a syndrome, 97 for a product in the decoder's field, for 32 items at a time, and 21 for one with a
/// power of x that is the same for all of them.
constexpr bool lac_work(const lac::Set& set, std::string_view stage, bool shared, Work& work) {
  const double n = static_cast<double>(set.n), c2 = static_cast<double>(set.c2_coefficients());
  const double t = static_cast<double>(set.errors), hashes = static_cast<double>(lac::chain_hashes(set));
  const auto blocks = [](size_t bytes) { return static_cast<double>((bytes + 15) / 16); };
  const auto product = [&](double coefficients) { work = {.operations = 3 * coefficients, .macs = n * coefficients}; };
  if (stage == "randombytes") return work.random_blocks = 1, true;
  if (stage == "prg") return work.operations = 6 * kSlicedAesOperations, true;
  if (stage == "gen_a") {
    if (!shared) work = {.aes_bits = blocks(set.n) * kAes256LookUps, .operations = kSha256Operations};
    return true;
  }
  if (stage == "gen_psi_fix") {
    const double words = static_cast<double>(2 * set.weight) + 16 * hashes;
    const double one = blocks(set.word_bytes()) * kSlicedAesOperations + hashes * kSha256Operations + words * n / 16;
    return work.operations = 2 * one, true;
  }
  if (stage == "gen_psi") return work.operations = blocks(set.noise2_bytes()) * kSlicedAesOperations, true;
  if (stage == "poly_aff" || stage == "poly_aff.c1") return product(n), true;
  if (stage == "poly_aff.c2" || stage == "poly_mul") return product(c2), true;
  if (stage == "ecc_enc") return work.operations = 256 * static_cast<double>((set.parity_bytes + 3) / 4), true;
  if (stage == "ecc_dec") {
    const double products = t * 3 * (t + 1) + 32 * t, by_powers = 224 * t;
    work.operations = static_cast<double>(set.code_bits()) * t / 2 + (97 * products + 21 * by_powers) / 32;
    return true;
  }
  if (stage == "demodulate") return work.operations = 3 * c2, true;
  if (stage == "compress" || stage == "compress_compare" || stage == "decompress") return work.operations = c2, true;
  if (stage == "sha256.m") return work.operations = kSha256Operations, true;
  if (stage == "sha256.ss")
    return work.operations = sha256_blocks(lac::kSeedBytes + set.ciphertext_bytes()) * kSha256Operations, true;
  if (stage == "sha256.reject") {
    if (!shared) work.operations = sha256_blocks(set.n) * kSha256Operations;
    return true;
  }
  return stage == "tobytes";
}

constexpr bool lac_floors_are_complete() {
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    for (const Stage& stage : lac::kStages.of(op)) {
      Work work;
      if (!lac_work(lac::kLac128, stage.name, false, work)) return false;
    }
  }
  return true;
}
static_assert(lac_floors_are_complete());

}  // namespace polykem::bench
