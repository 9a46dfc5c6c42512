// SPDX-License-Identifier: Apache-2.0
// ML-KEM and Kyber, which share kernels.
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kMlkem768Device;
const DeviceScheme kMlkem768Device = device_scheme<Mlkem768>();

extern const DeviceScheme kKyber768Device;
const DeviceScheme kKyber768Device = device_scheme<Kyber768>();

}  // namespace polykem::mlkem::cuda
