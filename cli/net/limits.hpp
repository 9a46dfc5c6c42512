// SPDX-License-Identifier: Apache-2.0
// File descriptors: every connection costs one.
#pragma once

#include <cstddef>
#include <string>

namespace polykem::cli::net {

struct FdBudget {
  std::size_t connections;  // how many may be open at once, at most the number wanted, at least 1
  std::string note;         // what was done, for people
};

/// Raises the soft limit as far as `wanted` connections need and the hard limit allows, counting what is open already.
/// Throws CliError (resources) if not even one connection fits.
FdBudget budget_connections(std::size_t wanted);

}  // namespace polykem::cli::net
