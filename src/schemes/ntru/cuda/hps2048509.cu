// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

std::span<const DeviceOperation> hps2048509_operations() {
  return kOperations<Hps2048509>;
}

}  // namespace polykem::ntru::cuda
