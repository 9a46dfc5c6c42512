// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

std::span<const DeviceOperation> hrss1373_operations() {
  return kOperations<Hrss1373>;
}

}  // namespace polykem::ntru::cuda
