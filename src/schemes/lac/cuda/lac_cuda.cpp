// SPDX-License-Identifier: Apache-2.0
#include "schemes/lac/cuda/lac_cuda.hpp"

namespace polykem::lac::cuda {

// One translation unit per set and its mended form, so that they compile in parallel.
extern const DeviceScheme kLac128Device, kLac192Device, kLac256Device, kLac128MendedDevice, kLac192MendedDevice,
    kLac256MendedDevice;

std::span<const DeviceScheme* const> schemes() {
  static const DeviceScheme* const all[] = {&kLac128Device,       &kLac192Device,       &kLac256Device,
                                            &kLac128MendedDevice, &kLac192MendedDevice, &kLac256MendedDevice};
  return all;
}

}  // namespace polykem::lac::cuda
