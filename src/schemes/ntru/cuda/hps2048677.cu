// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

extern const DeviceScheme kHps2048677;
const DeviceScheme kHps2048677 = device_scheme<Hps2048677>();

}  // namespace polykem::ntru::cuda
