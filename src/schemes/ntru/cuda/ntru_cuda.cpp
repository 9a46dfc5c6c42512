// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/ntru_cuda.hpp"

namespace polykem::ntru::cuda {

// One translation unit a set, so that they compile side by side.
std::span<const DeviceOperation> hps2048509_operations();
std::span<const DeviceOperation> hps2048677_operations();
std::span<const DeviceOperation> hps4096821_operations();
std::span<const DeviceOperation> hrss701_operations();
std::span<const DeviceOperation> hps40961229_operations();
std::span<const DeviceOperation> hrss1373_operations();

std::span<const std::span<const DeviceOperation>> operations() {
  static const std::span<const DeviceOperation> all[] = {hps2048509_operations(),  hps2048677_operations(),
                                                         hps4096821_operations(),  hrss701_operations(),
                                                         hps40961229_operations(), hrss1373_operations()};
  return all;
}

}  // namespace polykem::ntru::cuda
