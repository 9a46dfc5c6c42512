// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem::lac {

/// Returns the parameter sets of LAC with all backends that were built. The registry calls it. For research only.
std::span<const Scheme> schemes();

}  // namespace polykem::lac
