// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem {

/// Every KEM's parameter set, in the order they are listed to users.
std::span<const Scheme* const> registry();
/// Every signature scheme's.
std::span<const Scheme* const> signature_registry();

/// A KEM's set by name, title or alias; letter case, '-' and '_' do not matter. nullptr if there is none.
const Scheme* find_scheme(const char* name);
/// A signature set, likewise.
const Scheme* find_signature(const char* name);

/// The KEM's set whose name has the smallest edit distance.
const Scheme& nearest_scheme(const char* name);
/// The signature set, likewise.
const Scheme& nearest_signature(const char* name);

/// The set on the CPU backend of that name or, where it has nothing of its own for the set, on the one that it
/// inherits; nullptr if this build has none.
const SchemeBackend* cpu_backend(const Scheme& scheme, const char* name);

/// The set on the best CPU backend that this machine can run.
const SchemeBackend* best_cpu_backend(const Scheme& scheme);

}  // namespace polykem
