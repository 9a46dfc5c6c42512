// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

std::span<const DeviceOperation> hps40961229_operations() {
  return kOperations<Hps40961229>;
}

}  // namespace polykem::ntru::cuda
