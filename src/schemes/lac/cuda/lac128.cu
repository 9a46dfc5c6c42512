// SPDX-License-Identifier: Apache-2.0
#include "schemes/lac/cuda/plan.cuh"

namespace polykem::lac::cuda {

extern const DeviceScheme kLac128Device, kLac128MendedDevice;
const DeviceScheme kLac128Device = device_scheme<0>(), kLac128MendedDevice = device_scheme<3>();

}  // namespace polykem::lac::cuda
