// SPDX-License-Identifier: Apache-2.0
#include "schemes/saber/cuda/plan.cuh"

namespace polykem::saber::cuda {

extern const DeviceScheme kSaberDevice;
const DeviceScheme kSaberDevice = device_scheme<Saber>();

}  // namespace polykem::saber::cuda
