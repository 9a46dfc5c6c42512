// SPDX-License-Identifier: Apache-2.0
// The limit of file descriptors, of which every connection takes one.
#pragma once

#include <cstddef>
#include <string>

namespace polykem::cli::net {

struct FdBudget {
  std::size_t connections;  ///< the most that may be open at once: between 1 and the number wanted
  std::string note;         ///< a sentence about the limit and its change
};

/// Raises the soft limit as far as `wanted` connections, with the descriptors that are already open, need it and the
/// hard limit allows it. Throws CliError (resources) if not even one connection is possible.
FdBudget budget_connections(std::size_t wanted);

}  // namespace polykem::cli::net
