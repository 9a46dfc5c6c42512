// SPDX-License-Identifier: Apache-2.0
#include "schemes/saber/cuda/plan.cuh"

namespace polykem::saber::cuda {

extern const DeviceScheme kFireSaberDevice;
const DeviceScheme kFireSaberDevice = device_scheme<FireSaber>();

}  // namespace polykem::saber::cuda
