// SPDX-License-Identifier: Apache-2.0
#include "metrics/exporter.hpp"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <utility>
#include <vector>

#include "common/exit_codes.hpp"
#include "metrics/endpoint.hpp"
#include "metrics/families.hpp"

namespace polykem::cli {
namespace {

class Collected final : public prometheus::Collectable {
 public:
  explicit Collected(MetricsSource source) : source_(std::move(source)) {}
  std::vector<prometheus::MetricFamily> Collect() const override { return metric_families(source_); }

 private:
  MetricsSource source_;
};

/// A connection that says nothing keeps a thread for that long.
constexpr const char* kPatienceMs = "2000";
constexpr const char* kThreads = "4";

}  // namespace

struct Exporter::Impl {
  std::shared_ptr<prometheus::Collectable> collected;
  std::unique_ptr<prometheus::Exposer> exposer;
};

Exporter::Exporter(const std::string& endpoint, MetricsSource source) : impl_(std::make_unique<Impl>()) {
  if (!is_host_and_port(endpoint)) {
    throw CliError(kExitUsage, fmt::format("--metrics: '{}' is not HOST:PORT", printable(endpoint)),
                   "for example 127.0.0.1:9464; HOST is an IP address");
  }
  impl_->collected = std::make_shared<Collected>(std::move(source));
  try {
    impl_->exposer = std::make_unique<prometheus::Exposer>(std::vector<std::string>{
        "listening_ports", endpoint, "num_threads", kThreads, "request_timeout_ms", kPatienceMs});
  } catch (const std::exception&) {
    throw CliError(kExitIo, fmt::format("--metrics: cannot listen at {}", endpoint),
                   "is the address this machine's, and the port free?");
  }
  impl_->exposer->RegisterCollectable(impl_->collected);
}

Exporter::~Exporter() = default;

std::uint16_t Exporter::port() const {
  const std::vector<int> ports = impl_->exposer->GetListeningPorts();
  return ports.empty() ? 0 : static_cast<std::uint16_t>(ports.front());
}

std::string metrics_text(const MetricsSource& source) {
  return prometheus::TextSerializer().Serialize(metric_families(source));
}

}  // namespace polykem::cli
