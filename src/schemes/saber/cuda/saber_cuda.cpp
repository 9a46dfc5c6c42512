// SPDX-License-Identifier: Apache-2.0
#include "schemes/saber/cuda/saber_cuda.hpp"

namespace polykem::saber::cuda {

// Each set has a translation unit of its own, so that they compile in parallel.
extern const DeviceScheme kLightSaberDevice, kSaberDevice, kFireSaberDevice;

std::span<const DeviceScheme* const> schemes() {
  static const DeviceScheme* const all[] = {&kLightSaberDevice, &kSaberDevice, &kFireSaberDevice};
  return all;
}

}  // namespace polykem::saber::cuda
