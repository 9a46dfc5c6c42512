// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::mlkem::cuda {

/// ML-KEM's and Kyber's parameter sets on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::mlkem::cuda
