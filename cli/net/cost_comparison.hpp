// SPDX-License-Identifier: Apache-2.0
// Compares the cost of handshakes one at a time with that of batches.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <polykem/polykem.hpp>

#include "net/frame.hpp"

namespace polykem::cli::net {

/// Seconds per item and operation, and the number of items measured.
struct OpCosts {
  std::array<double, 3> seconds{};  ///< indexed by polykem_op
  double confirm_seconds = 0;       ///< for both tags of both ends
  std::uint64_t handshakes = 0;

  /// The server's computation in a handshake.
  double server(Role role) const;
  /// The computation of both ends.
  double whole() const;
};

/// The costs of handshakes one at a time and in batches, without a network.
struct Comparison {
  OpCosts single;
  OpCosts batched;
  std::size_t batch_size = 1;  ///< of `batched`
};

/// Runs complete handshakes, one at a time and in batches: `handshakes` of each kind, or as many as `budget_seconds`
/// allow, but at least one call of each. The kinds alternate, so that other load on the machine affects both alike.
/// progress: called with the number of handshakes done one at a time. Throws Error if the library fails, CliError
/// (check failed) if two secrets differ.
Comparison compare_costs(const Context& context, const Scheme& scheme, std::size_t batch_size, std::uint64_t handshakes,
                         double budget_seconds, const std::function<void(std::uint64_t)>& progress);

}  // namespace polykem::cli::net
