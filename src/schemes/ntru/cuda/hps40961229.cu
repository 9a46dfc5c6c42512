// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/plan.cuh"

namespace polykem::ntru::cuda {

extern const DeviceScheme kHps40961229;
const DeviceScheme kHps40961229 = device_scheme<Hps40961229>();

}  // namespace polykem::ntru::cuda
