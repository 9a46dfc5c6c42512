// SPDX-License-Identifier: Apache-2.0
// The only list of parameter sets that have operations for GPUs.
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem {

/// Returns the parameter sets that have operations for GPUs.
std::span<const DeviceScheme* const> device_schemes();

}  // namespace polykem
