// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/accelerator.hpp"

namespace polykem::rtl {

/// The hardware core for ML-KEM and Kyber: its simulation, or a board's.
Accelerator& accelerator();

}  // namespace polykem::rtl
