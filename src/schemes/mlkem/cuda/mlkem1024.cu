// SPDX-License-Identifier: Apache-2.0
// ML-KEM and Kyber, which share kernels.
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kMlkem1024Device;
const DeviceScheme kMlkem1024Device = device_scheme<Mlkem1024>();

extern const DeviceScheme kKyber1024Device;
const DeviceScheme kKyber1024Device = device_scheme<Kyber1024>();

}  // namespace polykem::mlkem::cuda
