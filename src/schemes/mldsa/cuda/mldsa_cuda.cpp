// SPDX-License-Identifier: Apache-2.0
#include "schemes/mldsa/cuda/mldsa_cuda.hpp"

namespace polykem::mldsa::cuda {

std::span<const DeviceScheme* const> schemes() {
  static const DeviceScheme* const all[] = {&kMldsa44Device, &kMldsa65Device, &kMldsa87Device};
  return all;
}

}  // namespace polykem::mldsa::cuda
