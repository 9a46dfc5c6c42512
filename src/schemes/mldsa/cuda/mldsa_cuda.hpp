// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::mldsa::cuda {

// One translation unit per set, so that they compile in parallel.
extern const DeviceScheme kMldsa44Device, kMldsa65Device, kMldsa87Device;

/// ML-DSA's parameter sets on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::mldsa::cuda
