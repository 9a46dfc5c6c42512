// SPDX-License-Identifier: Apache-2.0
// A parameter set as device code sees it at compile time: its parameters and the layout of its rows.
#pragma once

#include "prim/drbg/cuda/coin_layout.hpp"
#include "prim/polymul/cuda/degrees.hpp"
#include "schemes/ntru/params.hpp"

namespace polykem::ntru::cuda {

/// The largest batch that every operation of every set can run at once. More would exceed CUDA's grids of 2^31 - 1
/// blocks (plan.cuh compares them) and the memory of any GPU long before.
inline constexpr size_t kMaxItems = size_t{1} << 29;

/// A parameter set as a type, since kernels take types.
struct Hps2048509 {
  static constexpr const char* kName = "ntruhps2048509";
  static constexpr NtruParams kParams = kHps2048509;
};
struct Hps2048677 {
  static constexpr const char* kName = "ntruhps2048677";
  static constexpr NtruParams kParams = kHps2048677;
};
struct Hps4096821 {
  static constexpr const char* kName = "ntruhps4096821";
  static constexpr NtruParams kParams = kHps4096821;
};
struct Hrss701 {
  static constexpr const char* kName = "ntruhrss701";
  static constexpr NtruParams kParams = kHrss701;
};
struct Hps40961229 {
  static constexpr const char* kName = "ntruhps40961229";
  static constexpr NtruParams kParams = kHps40961229;
};
struct Hrss1373 {
  static constexpr const char* kName = "ntruhrss1373";
  static constexpr NtruParams kParams = kHrss1373;
};

/// Returns whether the powers of `base` are all nonzero residues mod n. If so, n is prime and Phi_n is irreducible mod
/// the prime `base`.
constexpr bool generates(int base, int n) {
  int power = base % n, order = 1;
  for (; power > 1; power = power * base % n)
    ++order;
  return power == 1 && order == n - 1;
}

/// A row is one polynomial, a byte for each of kRow coefficients, as products of bytes take it: mod 2^8, with -1 as 255
/// where it is ternary, or 0, 1, 2 where it is an element of S3. The kRow - n coefficients at the end are zero.
template <class Set>
struct Shape {
  static constexpr NtruParams kParams = Set::kParams;
  static constexpr bool kHps = kParams.variant == Variant::kHps;
  static constexpr int kN = static_cast<int>(kParams.n);
  static constexpr unsigned kLogQ = kParams.logq;
  static constexpr uint32_t kMask = kParams.q() - 1;
  static constexpr int kRow = static_cast<int>(polykem::cuda::poly_stride(kN));
  static constexpr int kTritsBytes = static_cast<int>(kParams.trits_bytes());
  static constexpr int kRqBytes = static_cast<int>(kParams.rq_bytes());
  static constexpr int kRmBytes = 2 * kTritsBytes;
  static constexpr int kRmStride = (kRmBytes + 15) / 16 * 16;
  static constexpr int kIidBytes = kN - 1;
  static constexpr int kPairBytes = static_cast<int>(kParams.pair_coin_bytes());
  static constexpr int kKeygenCoinBytes = static_cast<int>(kParams.keygen_coin_bytes());
  static constexpr int kEncapsCoinBytes = static_cast<int>(kParams.encaps_coin_bytes());
  /// Whole blocks, and a word that may be read past the end.
  static constexpr int kCoinStride =
      static_cast<int>(polykem::cuda::coin_blocks(kKeygenCoinBytes) * polykem::cuda::kCoinBlockBytes) + 16;
  static constexpr int kPublicKeyBytes = static_cast<int>(kParams.public_key_bytes());
  static constexpr int kSecretKeyBytes = static_cast<int>(kParams.secret_key_bytes());
  static constexpr int kCiphertextBytes = static_cast<int>(kParams.ciphertext_bytes());
  static constexpr int kInverseFOffset = static_cast<int>(kParams.inverse_f_offset());
  static constexpr int kInverseHOffset = static_cast<int>(kParams.inverse_h_offset());
  static constexpr int kPrfOffset = static_cast<int>(kParams.prf_key_offset());
  static_assert(generates(2, kN) && generates(3, kN));  // so that every f and g but 0 has an inverse
  static_assert(kIidBytes % 4 == 0 && 5 * kTritsBytes <= kRow);
};

}  // namespace polykem::ntru::cuda
