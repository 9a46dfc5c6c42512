// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/accelerator.hpp"

namespace polykem::cuda {

/// The NVIDIA GPUs of this machine, through libpolykem_cuda.so.
Accelerator& accelerator();

}  // namespace polykem::cuda
