// SPDX-License-Identifier: Apache-2.0
// An HTTP server with the metrics of a batcher and a broker for Prometheus, and their health for supervisors and load
// balancers.
#pragma once

#include <polykem/polykem.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

namespace polykem::cli {

/// The source of the metrics. The handles must outlive the Exporter.
struct MetricsSource {
  std::string program;                 ///< "polykemd", "polykem serve"
  polykem_batcher* batcher = nullptr;  ///< never null
  polykem_broker* broker = nullptr;    ///< null: there is none
  double start_time = static_cast<double>(std::time(nullptr));
};

/// The text of /metrics.
std::string metrics_text(const MetricsSource& source);

/// A broker's thread that has not looked at its clients for this long is taken to be hung.
inline constexpr std::uint64_t kHungAfterMs = 20'000;

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
  /// From now on /readyz answers 503 and the broker is not used, so that it may be freed.
  void begin_drain();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace polykem::cli
