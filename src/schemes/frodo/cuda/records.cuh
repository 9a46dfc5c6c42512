// SPDX-License-Identifier: Apache-2.0
// The records and rows of a batch in the form that kernels take.
#pragma once

#include "schemes/frodo/cuda/finish_c1.cuh"
#include "schemes/frodo/cuda/launches.hpp"

namespace polykem::frodo::cuda {

using polykem::cuda::Rows;

inline Records sk_of(const LaunchContext& t) {
  return {t.io.sk, t.io.shared_key ? 0 : t.sizes.sk_bytes};
}
/// Returns the public keys, in decaps those in the secret keys.
inline Records pk_of(const LaunchContext& t) {
  if (t.op == Op::kDecaps) return {t.io.sk + t.sizes.pk_offset, t.io.shared_key ? 0 : t.sizes.sk_bytes};
  return {t.io.pk, t.io.shared_key ? 0 : t.sizes.pk_bytes};
}
/// Returns the ciphertexts whose hash is ss.
inline Records ct_of(const LaunchContext& t) {
  return {t.op == Op::kDecaps ? t.io.ct : t.io.ct_out, t.sizes.ct_bytes};
}
inline Ciphertexts target_of(const LaunchContext& t) {
  return {t.op == Op::kDecaps ? const_cast<uint8_t*>(t.io.ct) : t.io.ct_out, t.fail};
}
inline Rows coins_of(const LaunchContext& t) {
  return {t.coins, kCoinStride};
}
/// Returns the hashes of the public keys. Encaps with a shared key has one hash for all items.
inline Rows pkh_of(const LaunchContext& t) {
  return {t.pkh, t.op == Op::kEncaps && t.io.shared_key ? 0 : kSecretStride};
}
inline Rows k_of(const LaunchContext& t) {
  return {t.k, kSecretStride};
}
inline Rows noise_of(const LaunchContext& t) {
  return {t.noise, t.sizes.noise_stride};
}

}  // namespace polykem::frodo::cuda
