// SPDX-License-Identifier: Apache-2.0
#include "schemes/hybrid/cuda/hybrid_cuda.hpp"

#include "schemes/hybrid/cuda/plan.cuh"

namespace polykem::hybrid::cuda {
namespace {

constexpr size_t kX25519Mlkem768 = 0, kMlkem768X25519 = 3;  ///< indices in kSets
const DeviceScheme kTlsDevice = device_scheme<kX25519Mlkem768>(), kHpkeDevice = device_scheme<kMlkem768X25519>();

}  // namespace

std::span<const DeviceScheme* const> schemes() {
  static const DeviceScheme* const all[] = {&kTlsDevice, &kHpkeDevice};
  return all;
}

}  // namespace polykem::hybrid::cuda
