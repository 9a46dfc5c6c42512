// SPDX-License-Identifier: Apache-2.0
#include "schemes/mldsa/cuda/plan.cuh"

namespace polykem::mldsa::cuda {

extern const DeviceScheme kMldsa65Device;
const DeviceScheme kMldsa65Device = device_scheme<Mldsa65>();

}  // namespace polykem::mldsa::cuda
