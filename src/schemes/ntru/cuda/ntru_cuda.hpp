// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::ntru::cuda {

/// Returns NTRU's parameter sets on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::ntru::cuda
