// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::saber::cuda {

/// Returns the parameter sets of Saber on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::saber::cuda
