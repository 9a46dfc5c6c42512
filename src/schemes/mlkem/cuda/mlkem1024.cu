// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/cuda/plan.cuh"

namespace polykem::mlkem::cuda {

extern const DeviceScheme kMlkem1024Device;
const DeviceScheme kMlkem1024Device = device_scheme<Mlkem1024>();

}  // namespace polykem::mlkem::cuda
