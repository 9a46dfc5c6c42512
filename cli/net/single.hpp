// SPDX-License-Identifier: Apache-2.0
// What the same work costs one handshake at a time, for comparison with batches.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <polykem/polykem.hpp>

#include "net/frame.hpp"

namespace polykem::cli::net {

/** Seconds per item and operation, and how many items that rests on. */
struct OpCosts {
  std::array<double, 3> seconds{};  // indexed by polykem_op
  double confirm_seconds = 0;       // both tags of both ends
  std::uint64_t handshakes = 0;

  /** The server's share of a handshake. */
  double server(Role role) const;
  /** Everything both ends compute. */
  double whole() const;
};

using CostProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/** Runs complete handshakes (without a network) whose operation `op` takes batch_sizes[op] items a call, until
 * `handshakes` are done or `budget_seconds` have passed, and at least one round. Throws Error if the library fails, and
 * CliError (check failed) if two secrets differ. */
OpCosts measure_costs(const Context& context, const Scheme& scheme, const std::array<std::size_t, 3>& batch_sizes,
                      std::uint64_t handshakes, double budget_seconds, const CostProgress& progress);

}  // namespace polykem::cli::net
