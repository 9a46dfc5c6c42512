// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/cuda/product_aes.cuh"

#include "schemes/frodo/cuda/records.cuh"

namespace polykem::frodo::cuda {

void mul_as_aes(LaunchContext& t) {
  t.launch(mul_as_aes_kernel, t.count(), kAesThreads, aes_layout(t.sizes.n).end, t.io.pk_out, t.io.sk_out, t.noise,
           t.sizes);
}

void mul_sa_aes(LaunchContext& t) {
  t.launch(mul_sa_aes_kernel, t.count(), kAesThreads, aes_layout(t.sizes.n).end, c1_of(t), pk_of(t), t.noise, t.sizes);
}

}  // namespace polykem::frodo::cuda
