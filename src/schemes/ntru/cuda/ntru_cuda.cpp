// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/cuda/ntru_cuda.hpp"

namespace polykem::ntru::cuda {

// One translation unit per set, so that they compile in parallel.
extern const DeviceScheme kHps2048509, kHps2048677, kHps4096821, kHrss701, kHps40961229, kHrss1373;

std::span<const DeviceScheme* const> schemes() {
  static const DeviceScheme* const all[] = {&kHps2048509, &kHps2048677,  &kHps4096821,
                                            &kHrss701,    &kHps40961229, &kHrss1373};
  return all;
}

}  // namespace polykem::ntru::cuda
