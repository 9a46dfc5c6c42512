// SPDX-License-Identifier: Apache-2.0
// The final report of exchange, serve and swarm, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/json_out.hpp"
#include "net/cost_comparison.hpp"
#include "net/options.hpp"
#include "net/stats.hpp"

namespace polykem::cli::net {

struct ExchangeResult {
  std::string scheme;
  std::string title;
  Role role = Role::kServerDecaps;
  std::string transport;
  std::uint64_t clients = 0;
  std::size_t client_processes = 0;
  EndReport server;
  EndReport client;
  std::optional<Comparison> comparison;
  double sequential_per_s = 0;  ///< over tcp, with a comparison: one client after another, in batches of one
  std::uint64_t sequential_clients = 0;
  int signal = 0;  ///< the signal that interrupted it, or 0

  /// The number of handshakes that both ends confirmed.
  std::uint64_t agreed() const;
  double seconds() const;
  double handshakes_per_s() const;
  /// Handshakes per second with one client at a time, over tcp, or without a network for inproc. Needs the comparison.
  double single_per_s() const;
};

/// The whole report, ending with a newline.
std::string render(const ExchangeResult& result);
Json to_json(const ExchangeResult& result);

/// The report of one end, serve or swarm.
std::string render_end(const EndReport& report, const char* who, bool with_steps);
Json end_to_json(const EndReport& report, const NetOptions& options, const std::string& command);

/// The failures that occurred, by reason: {"half_frame": 3, ...}.
Json failed_reasons(const OutcomeCounts& outcomes);

}  // namespace polykem::cli::net
