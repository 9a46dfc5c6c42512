// SPDX-License-Identifier: Apache-2.0
#include "schemes/mldsa/cuda/plan.cuh"

namespace polykem::mldsa::cuda {

extern const DeviceScheme kMldsa44Device;
const DeviceScheme kMldsa44Device = device_scheme<Mldsa44>();

}  // namespace polykem::mldsa::cuda
