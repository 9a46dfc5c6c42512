// SPDX-License-Identifier: Apache-2.0
// polykem exchange: both halves, over either transport.
#pragma once

#include <cstddef>
#include <string>

#include "common/progress.hpp"
#include "net/options.hpp"
#include "net/report.hpp"

namespace polykem::cli::net {

struct ExchangeOptions : NetOptions {
  std::string transport = "tcp";
  std::size_t clients = 10000;
  std::size_t concurrency = 0;       ///< 0: all that the limits allow
  std::size_t client_processes = 1;  ///< tcp
  double compare_seconds = 6;        ///< for the comparison with one client at a time; 0: none
  std::string progress_label = "exchanging";
  bool announce = true;  ///< print the address at which the server listens

  bool talks() const { return announce && !quiet && !json_to_stdout(json); }
};

/// Runs server and clients as processes of their own over loopback. Fills in all but the comparison.
/// Throws CliError if a process fails for its own reasons.
void run_tcp(const ExchangeOptions& options, ExchangeResult& result);

/// Runs both ends in this process without sockets. Fills in all but the comparison.
void run_inproc(const ExchangeOptions& options, const Scheme& scheme, ExchangeResult& result);

}  // namespace polykem::cli::net
