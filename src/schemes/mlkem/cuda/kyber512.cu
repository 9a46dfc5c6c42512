// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kKyber512Device;
const DeviceScheme kKyber512Device = device_scheme<Kyber512>();

}  // namespace polykem::mlkem::cuda
