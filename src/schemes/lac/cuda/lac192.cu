// SPDX-License-Identifier: Apache-2.0
#include "schemes/lac/cuda/plan.cuh"

namespace polykem::lac::cuda {

extern const DeviceScheme kLac192Device, kLac192MendedDevice;
const DeviceScheme kLac192Device = device_scheme<1>(), kLac192MendedDevice = device_scheme<4>();

}  // namespace polykem::lac::cuda
