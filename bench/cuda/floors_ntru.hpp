// SPDX-License-Identifier: Apache-2.0
// The least work of NTRU's steps.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "floors_units.hpp"
#include "schemes/ntru/params.hpp"

namespace polykem::bench {

using ntru::NtruParams;

inline constexpr std::pair<const char*, NtruParams> kNtruSets[] = {
    {"ntruhps4096821", ntru::kHps4096821},   {"ntruhps2048677", ntru::kHps2048677},
    {"ntruhps2048509", ntru::kHps2048509},   {"ntruhrss701", ntru::kHrss701},
    {"ntruhps40961229", ntru::kHps40961229}, {"ntruhrss1373", ntru::kHrss1373},
};

/// Returns the lower bound of a step's time for one item, in nanoseconds: the time of its arithmetic or that of its
/// bytes (each operand read once, each result written once, but for `cached` bytes), whichever is longer.
inline double ntru_floor_ns(const NtruParams& p, Op op, const std::string& step, double cached) {
  const double n = static_cast<double>(p.n), mac = n * n / kMacsPerSecond;
  const double packed = static_cast<double>(p.rq_bytes()), trits = static_cast<double>(p.trits_bytes());
  const double coins = static_cast<double>(op == Op::kKeygen ? p.keygen_coin_bytes() : p.encaps_coin_bytes());
  const auto blocks = [](double bytes) { return static_cast<double>(static_cast<size_t>(bytes) / 136 + 1); };
  double seconds = 0, bytes = 0;
  if (step == "coins") {
    seconds = random_blocks(static_cast<size_t>(coins)) / kRandomBlocksPerSecond;
    bytes = coins;
  }
  // Batcher's merge exchange of 2^k keys: 2^(k-2) (k^2 - k + 4) - 1 comparators. The unit for logic finds the smaller
  // key; the larger one takes it one operation, or the multipliers two, as a sum less the smaller key.
  const double k = std::log2(n - 1), comparators = std::exp2(k - 2) * (k * k - k + 4) - 1;
  const double sort = p.variant == ntru::Variant::kHps ? 4 * comparators / 3 / kLanesPerSecond : 0;
  if (step == "sample_fg") seconds = sort, bytes = coins + 2 * n + 32;
  if (step == "sample_rm_pack") seconds = sort, bytes = coins + 2 * n + 2 * trits;
  // Three products for each item, two of them with a common factor. The few inversions are not counted.
  if (step == "invert_mod3" || step == "invert_mod_q") seconds = 3 * mac, bytes = 8 * n;
  if (step == "pack_f_lift") bytes = 2 * n + 2 * trits;
  if (step == "mul_Gf") seconds = mac, bytes = 3 * n;
  if (step == "mul_invh_pack" || step == "mul_h_pack") seconds = 4 * mac, bytes = 3 * n + packed;
  if (step == "dpke_encrypt") seconds = 2 * mac, bytes = 2 * n + 2 * packed;
  if (step == "dpke_decrypt_m") seconds = 3 * mac, bytes = packed + 3 * trits;  // limb products 2 and 1
  if (step == "dpke_decrypt_r") seconds = (p.logq <= 12 ? 2 : 3) * mac, bytes = 2 * packed + 2 * trits;
  if (step == "sha3_256") seconds = blocks(2 * trits) / kPermutationsPerSecond, bytes = 2 * trits + 32;
  if (step == "sha3_256_select") {
    seconds = (blocks(2 * trits) + blocks(32 + packed)) / kPermutationsPerSecond;
    bytes = 2 * trits + 32 + packed + 32;
  }
  if (bytes == 0) die("no floor is known for the step " + step + ": give it one in ntru_floor_ns()");
  return std::max(seconds, (bytes - cached) / kBytesPerSecond) * 1e9;
}

}  // namespace polykem::bench
