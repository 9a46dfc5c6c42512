// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

extern const DeviceScheme kHps4096821;
const DeviceScheme kHps4096821 = device_scheme<Hps4096821>();

}  // namespace polykem::ntru::cuda
