// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem::lac {

/// The parameter sets of LAC with all backends that were built, for the registry. For research only.
std::span<const Scheme> schemes();

}  // namespace polykem::lac
