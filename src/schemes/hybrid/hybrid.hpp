// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem::hybrid {

/// Returns the hybrids with all backends that were built, for the registry.
std::span<const Scheme> schemes();

}  // namespace polykem::hybrid
