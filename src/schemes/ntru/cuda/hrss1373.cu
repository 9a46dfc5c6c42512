// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

extern const DeviceScheme kHrss1373;
const DeviceScheme kHrss1373 = device_scheme<Hrss1373>();

}  // namespace polykem::ntru::cuda
