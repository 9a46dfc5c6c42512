// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/cuda/small_products.cuh"

#include "schemes/frodo/cuda/records.cuh"

namespace polykem::frodo::cuda {

void encrypt_mu(LaunchContext& t) {
  t.launch(encrypt_mu_kernel, polykem::cuda::blocks_for(t.count(), kWarps), kThreads, 0, c1_of(t), pk_of(t), t.noise,
           draws_of(t), t.sizes, t.count());
}

void decrypt_mu(LaunchContext& t) {
  t.launch(decrypt_mu_kernel, polykem::cuda::blocks_for(t.count(), kWarps), kThreads, 0, draws_of(t), pkh_of(t),
           ct_of(t), sk_of(t), t.sizes, t.count());
}

void store_s(LaunchContext& t) {
  t.launch(store_s_kernel, polykem::cuda::blocks_for(t.count(), kWarps), kThreads, 0, t.io.sk_out, t.noise, t.sizes,
           t.count());
}

}  // namespace polykem::frodo::cuda
