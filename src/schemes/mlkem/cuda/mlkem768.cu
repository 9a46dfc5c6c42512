// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kMlkem768Device;
const DeviceScheme kMlkem768Device = device_scheme<Mlkem768>();

}  // namespace polykem::mlkem::cuda
