// SPDX-License-Identifier: Apache-2.0
#include "metrics/exporter.hpp"

#include <civetweb.h>
#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include "common/exit_codes.hpp"
#include "metrics/endpoint.hpp"
#include "metrics/families.hpp"

namespace polykem::cli {
namespace {

/// A silent connection occupies a thread for at most this time.
constexpr const char* kRequestTimeoutMs = "2000";
constexpr const char* kThreads = "4";

struct Response {
  int status;
  std::string text;
  const char* type = "text/plain; charset=utf-8";
};

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

int send(mg_connection* connection, const Response& response, bool with_body) {
  const std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: "
      "close\r\n\r\n",
      response.status, reason_of(response.status), response.type, response.text.size());
  mg_write(connection, head.data(), head.size());
  if (with_body) mg_write(connection, response.text.data(), response.text.size());
  return response.status;
}

}  // namespace

struct Exporter::Impl {
  MetricsSource source;
  std::mutex mutex;  ///< held while the source is used
  bool drains = false;
  mg_context* server = nullptr;

  Response metrics() {
    const std::lock_guard lock(mutex);
    return {200, metrics_text(source), "text/plain; version=0.0.4; charset=utf-8"};
  }
  /// Answers /healthz: whether the process works. If not, a restart helps.
  Response health() {
    const std::lock_guard lock(mutex);
    polykem_broker_stats_t stats{};
    stats.struct_size = sizeof stats;
    if (source.broker == nullptr || polykem_broker_stats(source.broker, &stats) != POLYKEM_OK ||
        stats.silent_ms < kHungAfterMs)
      return {200, "ok\n"};
    return {503, fmt::format("the broker's thread has not looked at its clients for {} s\n", stats.silent_ms / 1000)};
  }
  /// Answers /readyz: whether it takes new work.
  Response readiness() {
    {
      const std::lock_guard lock(mutex);
      if (drains) return {503, "shutting down: no new clients\n"};
    }
    return health();
  }

  Response answer(std::string_view method, std::string_view path) {
    if (path != "/metrics" && path != "/healthz" && path != "/readyz")
      return {404, "only /metrics, /healthz and /readyz\n"};
    if (method != "GET" && method != "HEAD") return {405, "only GET and HEAD\n"};
    return path == "/metrics" ? metrics() : path == "/healthz" ? health() : readiness();
  }

  /// Handles all requests. CivetWeb's own response to an unknown path would need most of its threads' stack.
  static int serve(mg_connection* connection) {
    const mg_request_info& request = *mg_get_request_info(connection);
    const std::string_view method = request.request_method;
    try {
      auto& impl = *static_cast<Impl*>(request.user_data);
      return send(connection, impl.answer(method, request.local_uri), method != "HEAD");
    } catch (const std::exception&) {
      return send(connection, {500, "out of memory, or a defect in polykem\n"}, true);
    }
  }
};

Exporter::Exporter(const std::string& endpoint, MetricsSource source) : impl_(std::make_unique<Impl>()) {
  if (!is_host_and_port(endpoint)) {
    throw CliError(kExitUsage, fmt::format("--metrics: '{}' is not HOST:PORT", printable(endpoint)),
                   "for example 127.0.0.1:9464; HOST is an IP address");
  }
  impl_->source = std::move(source);
  const char* options[] = {"listening_ports",    endpoint.c_str(),  "num_threads", kThreads,
                           "request_timeout_ms", kRequestTimeoutMs, nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = Impl::serve;
  impl_->server = mg_start(&callbacks, impl_.get(), options);
  if (impl_->server == nullptr) {
    throw CliError(kExitIo, fmt::format("--metrics: cannot listen at {}", endpoint),
                   "is the address this machine's, and the port free?");
  }
}

Exporter::~Exporter() {
  mg_stop(impl_->server);
}

std::uint16_t Exporter::port() const {
  mg_server_port port{};
  return mg_get_server_ports(impl_->server, 1, &port) == 1 ? static_cast<std::uint16_t>(port.port) : 0;
}

void Exporter::begin_drain() {
  const std::lock_guard lock(impl_->mutex);
  impl_->drains = true;
  impl_->source.broker = nullptr;
}

std::string metrics_text(const MetricsSource& source) {
  return prometheus::TextSerializer().Serialize(metric_families(source));
}

}  // namespace polykem::cli
