// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::ntru::cuda {

/// keygen, encaps and decaps of each of NTRU's parameter sets.
std::span<const std::span<const DeviceOperation>> operations();

}  // namespace polykem::ntru::cuda
