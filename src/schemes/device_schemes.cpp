// SPDX-License-Identifier: Apache-2.0
#include "schemes/device_schemes.hpp"

#include <array>
#include <type_traits>

#include "schemes/frodo/cuda/frodo_cuda.hpp"
#include "schemes/hybrid/cuda/hybrid_cuda.hpp"
#include "schemes/lac/cuda/lac_cuda.hpp"
#include "schemes/mldsa/cuda/mldsa_cuda.hpp"
#include "schemes/mlkem/cuda/mlkem_cuda.hpp"
#include "schemes/ntru/cuda/ntru_cuda.hpp"
#include "schemes/saber/cuda/saber_cuda.hpp"

namespace polykem {

namespace {

struct DeviceSchemes {
  std::array<const DeviceScheme*, 64> sets{};
  size_t count = 0;

  DeviceSchemes() {
    for (const auto family :
         {ntru::cuda::schemes(), mlkem::cuda::schemes(), frodo::cuda::schemes(), saber::cuda::schemes(),
          lac::cuda::schemes(), hybrid::cuda::schemes(), mldsa::cuda::schemes()}) {
      for (const DeviceScheme* scheme : family)
        sets.at(count++) = scheme;
    }
  }
};
// The list has no destructor to run at exit, because threads may ask for it while the process ends.
static_assert(std::is_trivially_destructible_v<DeviceSchemes>);

}  // namespace

std::span<const DeviceScheme* const> device_schemes() {
  static const DeviceSchemes all;
  return {all.sets.data(), all.count};
}

}  // namespace polykem
