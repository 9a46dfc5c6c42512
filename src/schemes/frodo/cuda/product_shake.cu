// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/cuda/product_shake.cuh"

#include "schemes/frodo/cuda/records.cuh"

namespace polykem::frodo::cuda {

namespace {

/// Warps of a block: as many as leave few of them idle when the last tiles of 32 rows are computed, and two blocks on a
/// multiprocessor.
constexpr uint32_t warps_of(uint32_t n) {
  return n == 640 ? 10 : n == 976 ? 8 : 7;
}

}  // namespace

void mul_as_shake(LaunchContext& t) {
  const uint32_t tiles = (t.sizes.n + 31) / 32;
  t.launch(mul_as_shake_kernel, t.count() * tiles, 32, pair_bytes(t.sizes.n), t.io.pk_out, t.io.sk_out, t.noise,
           t.sizes, tiles);
}

void mul_sa_shake(LaunchContext& t) {
  const uint32_t warps = warps_of(t.sizes.n);
  t.launch(mul_sa_shake_kernel, t.count(), 32 * warps, shared_bytes_sa_shake(t.sizes.n, warps), c1_of(t), pk_of(t),
           t.noise, t.sizes);
}

}  // namespace polykem::frodo::cuda
