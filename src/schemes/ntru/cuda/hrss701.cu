// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

std::span<const DeviceOperation> hrss701_operations() {
  return kOperations<Hrss701>;
}

}  // namespace polykem::ntru::cuda
