// SPDX-License-Identifier: Apache-2.0
// The least work of LAC's stages, in hashes, AES, multiply-adds and integer operations.
#pragma once

#include <string_view>

#include "floors_units.hpp"
#include "schemes/lac/params.hpp"
#include "schemes/lac/stages.hpp"

namespace polykem::bench {

/// A block of SHA-256. A round has four logic operations, six rotations and four sums of up to three words; a word of
/// the schedule two logic operations, four rotations, two shifts and two such sums.
inline constexpr Work kSha256{
    .logic = 64 * 4 + 48 * 2, .operations = 64 * 4 + 48 * 4 + 8, .rotations = 64 * 6 + 48 * 4};

/// Logic operations of a block of bit-sliced AES-256 under a secret key, 32 blocks at a time: 14 rounds of 16 S-boxes,
/// mixing of columns and addition of keys.
inline constexpr double kSboxOperations = 73;  ///< as prim/aes/cuda/sbox.cuh counts them
inline constexpr double kSlicedAesOperations = (14 * 16 * kSboxOperations + 13 * 128 * 2.4 + 2 * 128) / 32;

/// Look-ups of a block of AES-256 under a public key, of which the blocks of a key share 27 in the first two rounds.
inline constexpr double kAes256LookUps = 14 * 16 - 27;

/// Returns the number of blocks of SHA-256 for a message of `bytes` bytes.
constexpr double sha256_blocks(size_t bytes) {
  return static_cast<double>((bytes + 8) / 64 + 1);
}

/// Returns false if the stage is unknown. shared: the batch has one key, and work that depends only on the key is not
/// counted. For 32 coefficients at each place of a vector of fixed weight, a comparison and an operation that sets the
/// bit. Logic: a word of a row for each bit that is encoded or enters a syndrome, 97 for a product in the decoder's
/// field, for 32 items at a time, and 21 for one with a power of x that is the same for all of them. Operations: 2 for
/// a coefficient that is reduced (multiply, multiply and subtract), subtracted or demodulated, 1 for one that is
/// compressed, half of one where it is a byte again.
constexpr bool lac_work(const lac::Set& set, std::string_view stage, bool shared, Work& work) {
  const double n = static_cast<double>(set.n), c2 = static_cast<double>(set.c2_coefficients());
  const double t = static_cast<double>(set.errors), hashes = static_cast<double>(lac::chain_hashes(set));
  const double pk = static_cast<double>(set.public_key_bytes()), sk = static_cast<double>(set.secret_key_bytes());
  const double ct = static_cast<double>(set.ciphertext_bytes()), of_key = shared ? 0 : n;
  const auto blocks = [](size_t bytes) { return static_cast<double>((bytes + 15) / 16); };
  const auto product = [&](double coefficients, double bytes) {
    work = {.operations = 2 * coefficients, .macs = n * coefficients, .bytes = bytes};
    return true;
  };
  if (stage == "randombytes") return work.random_blocks = 1, true;
  if (stage == "prg") return work.logic = 6 * kSlicedAesOperations, true;
  if (stage == "gen_a") {
    if (!shared) work = kSha256, work.lookups = blocks(set.n) * kAes256LookUps;
    return true;
  }
  if (stage == "gen_psi_fix") {
    const double words = static_cast<double>(2 * set.weight) + 16 * hashes, places = words * n / 32;
    const double aes = blocks(set.word_bytes()) * kSlicedAesOperations;
    work = kSha256.times(2 * hashes);
    work += {.logic = 2 * (aes + places), .operations = 2 * places};
    return true;
  }
  if (stage == "gen_psi") return work.logic = blocks(set.noise2_bytes()) * kSlicedAesOperations, true;
  if (stage == "poly_aff" || stage == "poly_aff.c1") return product(n, 0);
  if (stage == "poly_aff.c2" || stage == "poly_mul") return product(c2, of_key);
  if (stage == "ecc_enc") return work.logic = 256 * static_cast<double>((set.parity_bytes + 3) / 4), true;
  if (stage == "ecc_dec") {
    const double products = t * 3 * (t + 1) + 32 * t, by_powers = 224 * t;
    work.logic = static_cast<double>(set.code_bits()) * t / 2 + (97 * products + 21 * by_powers) / 32;
    return true;
  }
  if (stage == "demodulate") return work.operations = 2 * c2, true;
  if (stage == "compress" || stage == "compress_compare") return work = {.operations = c2, .bytes = ct}, true;
  if (stage == "decompress") return work = {.operations = c2 / 2, .bytes = ct}, true;
  if (stage == "sha256.m") return work = kSha256, true;
  if (stage == "sha256.ss")
    return work = kSha256.times(sha256_blocks(lac::kSeedBytes + set.ciphertext_bytes())), work.bytes = ct, true;
  if (stage == "sha256.reject") {
    if (!shared) work = kSha256.times(sha256_blocks(set.n)), work.bytes = n;
    return true;
  }
  if (stage == "tobytes") return work.bytes = pk + sk, true;
  return false;
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
