// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/cuda/mlkem_cuda.hpp"

namespace polykem::mlkem::cuda {

std::span<const DeviceScheme* const> schemes() {
  static const DeviceScheme* const all[] = {&kMlkem512Device, &kMlkem768Device, &kMlkem1024Device,
                                            &kKyber512Device, &kKyber768Device, &kKyber1024Device};
  return all;
}

}  // namespace polykem::mlkem::cuda
