// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem::frodo {

/// Returns FrodoKEM's parameter sets with all backends that were built. The registry calls it.
std::span<const Scheme> schemes();

}  // namespace polykem::frodo
