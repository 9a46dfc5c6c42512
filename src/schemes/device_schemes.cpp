// SPDX-License-Identifier: Apache-2.0
#include "schemes/device_schemes.hpp"

#include <vector>

#include "schemes/frodo/cuda/frodo_cuda.hpp"
#include "schemes/mlkem/cuda/mlkem_cuda.hpp"
#include "schemes/ntru/cuda/ntru_cuda.hpp"

namespace polykem {

namespace {

std::vector<const DeviceScheme*> collect() {
  std::vector<const DeviceScheme*> all;
  for (const auto family : {ntru::cuda::schemes(), mlkem::cuda::schemes(), frodo::cuda::schemes()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace

std::span<const DeviceScheme* const> device_schemes() {
  static const std::vector<const DeviceScheme*> all = collect();
  return all;
}

}  // namespace polykem
