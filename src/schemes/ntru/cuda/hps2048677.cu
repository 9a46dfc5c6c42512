// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

std::span<const DeviceOperation> hps2048677_operations() {
  return kOperations<Hps2048677>;
}

}  // namespace polykem::ntru::cuda
