// SPDX-License-Identifier: Apache-2.0
// The figures of a batcher, and of a broker, for Prometheus, and whether they serve, for supervisors and load
// balancers.
#pragma once

#include <polykem/polykem.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

namespace polykem::cli {

/// What is published; the handles must outlive the Exporter.
struct MetricsSource {
  std::string program;                 ///< "polykemd", "polykem serve"
  polykem_batcher* batcher = nullptr;  ///< never null
  polykem_broker* broker = nullptr;    ///< null: there is none
  double start_time = static_cast<double>(std::time(nullptr));
};

/// The text that /metrics shows.
std::string metrics_text(const MetricsSource& source);

/// Longer than any pause that a broker's thread makes on a machine that works: it hangs.
inline constexpr std::uint64_t kHangsMs = 20'000;

/// Answers http://HOST:PORT/metrics, /healthz and /readyz on threads of its own until it is destroyed.
class Exporter {
 public:
  /// endpoint: "HOST:PORT"; port 0: any free one. Throws CliError: usage for an endpoint that is malformed, io if it
  /// cannot listen there.
  Exporter(const std::string& endpoint, MetricsSource source);
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  std::uint16_t port() const;
  /// From now on it is not ready, and does not use the broker, which may end.
  void begin_drain();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace polykem::cli
