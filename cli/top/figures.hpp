// SPDX-License-Identifier: Apache-2.0
// The figures of `polykem top`: those of an interval, from the counters at its beginning and end.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "common/json_out.hpp"
#include "top/samples.hpp"

namespace polykem::cli::top {

/// The figures of one set and operation. Times are in seconds; quantiles are the upper ends of buckets, 0 if nothing
/// was counted.
struct OperationFigures {
  std::string set, op;
  std::map<std::string, double> rates;  ///< operations a second, by where they were computed
  double rate = 0;
  double batch_p50 = 0, batch_p99 = 0;
  double wait_p50 = 0, wait_p99 = 0, service_p50 = 0, service_p99 = 0;
  double waiting = 0, in_flight = 0;
  double spilled = 0, rescued = 0, refused = 0, failed = 0;  ///< a second
};

struct ExecutorFigures {
  std::string name, state;
  double opened = 0;
};

struct Figures {
  std::string program, version;
  double seconds = 0;  ///< the interval
  std::vector<OperationFigures> operations;
  std::vector<ExecutorFigures> executors;
  std::map<std::string, double> broker;  ///< gauges of polykemd by name: clients, in_flight; empty: not a daemon
};

/// The figures between two readings. A counter that has decreased belongs to a new process, which started at 0.
Figures compare(const std::vector<Sample>& before, const std::vector<Sample>& after, double seconds);

/// The display, at most 80 columns wide. endpoint: the HOST:PORT that was read.
std::string render(const Figures& figures, const std::string& endpoint);

Json to_json(const Figures& figures, const std::string& endpoint);

}  // namespace polykem::cli::top
