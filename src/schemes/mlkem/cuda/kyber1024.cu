// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kKyber1024Device;
const DeviceScheme kKyber1024Device = device_scheme<Kyber1024>();

}  // namespace polykem::mlkem::cuda
