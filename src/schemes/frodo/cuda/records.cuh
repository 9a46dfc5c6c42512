// SPDX-License-Identifier: Apache-2.0
// The records and rows of a batch in the form that kernels take.
#pragma once

#include "schemes/frodo/cuda/context.hpp"
#include "schemes/frodo/cuda/finish_c1.cuh"

namespace polykem::frodo::cuda {

using polykem::cuda::Rows;

inline Records sk_of(const LaunchContext& context) {
  return {context.io.sk, context.io.shared_key ? 0 : context.sizes.sk_bytes};
}
/// Returns the public keys, in decaps those in the secret keys.
inline Records pk_of(const LaunchContext& context) {
  if (context.op == Op::kDecaps)
    return {context.io.sk + context.sizes.pk_offset, context.io.shared_key ? 0 : context.sizes.sk_bytes};
  return {context.io.pk, context.io.shared_key ? 0 : context.sizes.pk_bytes};
}
/// Returns the ciphertexts whose hash is ss.
inline Records ct_of(const LaunchContext& context) {
  return {context.op == Op::kDecaps ? context.io.ct : context.io.ct_out, context.sizes.ct_bytes};
}
inline Ciphertexts target_of(const LaunchContext& context) {
  return {context.op == Op::kDecaps ? const_cast<uint8_t*>(context.io.ct) : context.io.ct_out, context.fail};
}
inline Rows coins_of(const LaunchContext& context) {
  return {context.coins, kCoinStride};
}
/// Returns the hashes of the public keys. Encaps with a shared key has one hash for all items.
inline Rows pkh_of(const LaunchContext& context) {
  return {context.pkh, context.op == Op::kEncaps && context.io.shared_key ? 0 : kSecretStride};
}
inline Rows k_of(const LaunchContext& context) {
  return {context.k, kSecretStride};
}
inline Rows noise_of(const LaunchContext& context) {
  return {context.noise, context.sizes.noise_stride};
}

}  // namespace polykem::frodo::cuda
