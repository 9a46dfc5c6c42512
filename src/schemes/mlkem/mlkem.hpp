// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem::mlkem {

/// Returns the parameter sets of ML-KEM and Kyber with all backends that were built, for the registry.
std::span<const Scheme> schemes();

}  // namespace polykem::mlkem
