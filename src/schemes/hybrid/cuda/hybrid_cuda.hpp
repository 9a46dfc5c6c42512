// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::hybrid::cuda {

/// Returns the hybrids with X25519 on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::hybrid::cuda
