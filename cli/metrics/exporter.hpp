// SPDX-License-Identifier: Apache-2.0
// The figures of a batcher, and of a broker, for Prometheus.
#pragma once

#include <polykem/polykem.h>

#include <cstdint>
#include <memory>
#include <string>

namespace polykem::cli {

/// What is published; the handles must outlive the Exporter.
struct MetricsSource {
  std::string program;                 ///< "polykemd", "polykem serve"
  polykem_batcher* batcher = nullptr;  ///< never null
  polykem_broker* broker = nullptr;    ///< null: there is none
};

/// The text that /metrics shows.
std::string metrics_text(const MetricsSource& source);

/// Answers http://HOST:PORT/metrics on a thread of its own until it is destroyed.
class Exporter {
 public:
  /// endpoint: "HOST:PORT"; port 0: any free one. Throws CliError: usage for an endpoint that is malformed, io if it
  /// cannot listen there.
  Exporter(const std::string& endpoint, MetricsSource source);
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  std::uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace polykem::cli
