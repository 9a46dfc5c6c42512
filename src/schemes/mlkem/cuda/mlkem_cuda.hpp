// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::mlkem::cuda {

// Each set has a translation unit of its own, so that they compile in parallel.
extern const DeviceScheme kMlkem512Device, kMlkem768Device, kMlkem1024Device, kKyber512Device, kKyber768Device,
    kKyber1024Device;

/// Returns the parameter sets of ML-KEM and Kyber on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::mlkem::cuda
