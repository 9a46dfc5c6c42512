// SPDX-License-Identifier: Apache-2.0
// ML-KEM and Kyber, which share kernels.
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kMlkem512Device;
const DeviceScheme kMlkem512Device = device_scheme<Mlkem512>();

extern const DeviceScheme kKyber512Device;
const DeviceScheme kKyber512Device = device_scheme<Kyber512>();

}  // namespace polykem::mlkem::cuda
