// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

extern const DeviceScheme kHps2048509;
const DeviceScheme kHps2048509 = device_scheme<Hps2048509>();

}  // namespace polykem::ntru::cuda
