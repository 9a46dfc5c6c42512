// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

extern const DeviceScheme kHrss701;
const DeviceScheme kHrss701 = device_scheme<Hrss701>();

}  // namespace polykem::ntru::cuda
