// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kMlkem512Device;
const DeviceScheme kMlkem512Device = device_scheme<Mlkem512>();

}  // namespace polykem::mlkem::cuda
