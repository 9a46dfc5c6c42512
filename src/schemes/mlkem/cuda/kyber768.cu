// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kKyber768Device;
const DeviceScheme kKyber768Device = device_scheme<Kyber768>();

}  // namespace polykem::mlkem::cuda
