// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

std::span<const DeviceOperation> hps4096821_operations() {
  return kOperations<Hps4096821>;
}

}  // namespace polykem::ntru::cuda
