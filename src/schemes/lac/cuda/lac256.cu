// SPDX-License-Identifier: Apache-2.0
#include "schemes/lac/cuda/plan.cuh"

namespace polykem::lac::cuda {

extern const DeviceScheme kLac256Device, kLac256MendedDevice;
const DeviceScheme kLac256Device = device_scheme<2>(), kLac256MendedDevice = device_scheme<5>();

}  // namespace polykem::lac::cuda
