// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/device.hpp"

namespace polykem::mlkem::cuda {

// One translation unit per set, so that they compile in parallel.
extern const DeviceScheme kMlkem512Device, kMlkem768Device, kMlkem1024Device, kKyber512Device, kKyber768Device,
    kKyber1024Device;

/// ML-KEM's and Kyber's parameter sets on GPUs.
std::span<const DeviceScheme* const> schemes();

}  // namespace polykem::mlkem::cuda
