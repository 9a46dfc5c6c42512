// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::lac::cuda {

/// Returns LAC's parameter sets on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::lac::cuda
