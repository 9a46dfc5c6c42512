// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::mldsa::cuda {

// Each set has a translation unit of its own, so that they compile in parallel.
extern const DeviceScheme kMldsa44Device, kMldsa65Device, kMldsa87Device;

/// Returns the parameter sets of ML-DSA on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::mldsa::cuda
