// SPDX-License-Identifier: Apache-2.0
// Statistics that one end of an exchange collects.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/json_out.hpp"
#include "net/outcome.hpp"

namespace polykem::cli::net {

/// The number of batches of each size.
class SizeCounts {
 public:
  void add(std::size_t size, std::uint64_t times = 1) { counts_[size] += times; }
  void add(const SizeCounts& other);

  bool empty() const { return counts_.empty(); }
  std::uint64_t batches() const;
  std::uint64_t items() const;
  std::size_t min() const { return counts_.begin()->first; }
  std::size_t max() const { return counts_.rbegin()->first; }
  double mean() const { return static_cast<double>(items()) / static_cast<double>(batches()); }
  /// The median size of a batch. There must be at least one batch.
  std::size_t median() const;

  const std::map<std::size_t, std::uint64_t>& counts() const { return counts_; }

 private:
  std::map<std::size_t, std::uint64_t> counts_;
};

/// The batches that a batcher computed.
struct BatchStats {
  std::array<SizeCounts, 3> by_op;   ///< indexed by polykem_op
  std::chrono::nanoseconds busy{0};  ///< time during which at least one batch was running
};

/// The texts of errors that ended handshakes, from ERROR frames and from the system. Peers choose these texts, so only
/// the first kMaxTexts distinct ones are kept, cut at kMaxBytes; others are counted as kOther.
class PeerErrors {
 public:
  static constexpr std::size_t kMaxTexts = 32;
  static constexpr std::size_t kMaxBytes = 120;
  static constexpr std::string_view kOther = "other";

  void add(std::string_view text, std::uint64_t times = 1);
  void add(const PeerErrors& other);

  /// The counts by text, which is printable ASCII: at most kMaxTexts, and kOther.
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  std::map<std::string, std::uint64_t> counts_;
};

/// One step of the library's plan and the time it took.
struct StepTime {
  std::string op;
  std::string step;
  std::string stages;
  std::uint64_t calls = 0;
  std::uint64_t items = 0;
  std::uint64_t nanoseconds = 0;
};

/// The report of one end. Times are on the steady clock, which all processes of a machine share.
struct EndReport {
  OutcomeCounts outcomes;
  PeerErrors peer_errors;
  BatchStats batches;
  std::vector<StepTime> steps;            ///< servers only
  std::vector<std::uint32_t> latency_us;  ///< clients only: from starting the connection to confirmed
  std::int64_t first_ns = 0;              ///< start of the first handshake, 0 if there was none
  std::int64_t last_ns = 0;               ///< end of the last one
  std::string backend;
  unsigned threads = 0;
  std::vector<std::string> limits;  ///< sentences about the limits that it changed
};

/// The steady clock in nanoseconds.
std::int64_t now_ns();

/// The p-th percentile (0 < p <= 100), nearest rank, of sorted samples; 0 if there are none.
std::uint32_t percentile(const std::vector<std::uint32_t>& sorted, double p);

/// Adds another client process's figures.
void merge(EndReport& into, const EndReport& other);

/// {"number", "min", "median", "mean", "max", "sizes"}, the sizes only on request. Empty counts give number 0.
Json to_json(const SizeCounts& counts, bool with_sizes);

/// Convert the whole report for a pipe between processes, and back. from_json throws nlohmann::json::exception.
Json to_json(const EndReport& report);
EndReport end_report_from_json(const Json& json);

}  // namespace polykem::cli::net
