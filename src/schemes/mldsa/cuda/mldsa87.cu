// SPDX-License-Identifier: Apache-2.0
#include "schemes/mldsa/cuda/plan.cuh"

namespace polykem::mldsa::cuda {

extern const DeviceScheme kMldsa87Device;
const DeviceScheme kMldsa87Device = device_scheme<Mldsa87>();

}  // namespace polykem::mldsa::cuda
