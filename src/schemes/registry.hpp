// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/scheme.hpp"

namespace polykem {

/// Returns the parameter sets of all KEMs, in the order in which users see them listed.
std::span<const Scheme* const> registry();
/// Returns the parameter sets of all signature schemes, in the order in which users see them listed.
std::span<const Scheme* const> signature_registry();

/// Returns the KEM parameter set with this name, title or alias, or nullptr if there is none. Letter case, '-' and '_'
/// do not matter.
const Scheme* find_scheme(const char* name);
/// Returns the signature parameter set with this name, title or alias, or nullptr if there is none. Letter case, '-'
/// and '_' do not matter.
const Scheme* find_signature(const char* name);

/// Returns the KEM parameter set whose name has the smallest edit distance to `name`.
const Scheme& nearest_scheme(const char* name);
/// Returns the signature parameter set whose name has the smallest edit distance to `name`.
const Scheme& nearest_signature(const char* name);

/// Returns the set's operations on the CPU backend `name` or, if that backend has none of its own for the set, on the
/// backend from which it inherits; nullptr if this build has neither.
const SchemeBackend* cpu_backend(const Scheme& scheme, const char* name);

/// Returns the set's operations on the best CPU backend that this machine can run.
const SchemeBackend* best_cpu_backend(const Scheme& scheme);

}  // namespace polykem
