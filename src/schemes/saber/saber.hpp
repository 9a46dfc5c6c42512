// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem::saber {

/// Returns the parameter sets of Saber with all backends that were built, for the registry.
std::span<const Scheme> schemes();

}  // namespace polykem::saber
