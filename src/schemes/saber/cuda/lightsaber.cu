// SPDX-License-Identifier: Apache-2.0
#include "schemes/saber/cuda/plan.cuh"

namespace polykem::saber::cuda {

extern const DeviceScheme kLightSaberDevice;
const DeviceScheme kLightSaberDevice = device_scheme<LightSaber>();

}  // namespace polykem::saber::cuda
