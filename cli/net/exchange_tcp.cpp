// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <asio/io_context.hpp>

#include "common/exit_codes.hpp"
#include "common/signals.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "net/exchange.hpp"
#include "net/process.hpp"
#include "net/watch.hpp"

namespace polykem::cli::net {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

/// The parent process: starts the server and then the clients, reads their messages, and stops the server when no
/// client is left.
class TcpRun {
 public:
  explicit TcpRun(const ExchangeOptions& options)
      : options_(options),
        progress_(options.progress_label, options.clients, "clients", options.quiet),
        watch_(
            loop_, Signals::kFromPeople, [] {}, [this] { stop_all(); }) {}

  void run(ExchangeResult& result) {
    start_server();
    loop_.run();
    progress_.finish();
    result.signal = watch_.signal();
    if (result.signal != 0 && !all_reported())
      throw CliError(static_cast<ExitCode>(kExitSignal + result.signal),
                     fmt::format("interrupted by {} before all parts had begun", signal_name(result.signal)));
    if (failure_) throw CliError(static_cast<ExitCode>(*failure_), "a part of the exchange could not run, see above");
    if (!server_.report) throw CliError(kExitInternal, "the server process ended without a report");
    result.server = *server_.report;
    for (const auto& participant : swarms_) {
      if (!participant->report) throw CliError(kExitInternal, "a client process ended without a report");
      merge(result.client, *participant->report);
    }
  }

 private:
  struct Participant {
    std::unique_ptr<Child> child;
    OutcomeCounts outcomes;
    std::optional<EndReport> report;
  };

  void start_server() {
    std::vector<std::string> arguments = {"serve", "--address", kLoopback, "--port", "0"};
    arguments.insert(arguments.end(), {"--clients", std::to_string(options_.clients)});
    if (options_.concurrency != 0)
      arguments.insert(arguments.end(), {"--max-clients", std::to_string(options_.concurrency)});
    start_participant(server_, std::move(arguments));
  }

  void start_swarms(std::uint16_t port) {
    const std::size_t processes = std::min(options_.client_processes, options_.clients);
    for (std::size_t i = 0; i < processes; ++i) {
      const std::size_t share = options_.clients / processes + (i < options_.clients % processes ? 1 : 0);
      std::vector<std::string> arguments = {"swarm", "--address", kLoopback, "--port", std::to_string(port)};
      arguments.insert(arguments.end(), {"--clients", std::to_string(share)});
      if (options_.concurrency != 0) {
        const std::size_t at_once = std::max<std::size_t>(options_.concurrency / processes, 1);
        arguments.insert(arguments.end(), {"--concurrency", std::to_string(at_once)});
      }
      swarms_.push_back(std::make_unique<Participant>());
      start_participant(*swarms_.back(), std::move(arguments));
    }
  }

  void start_participant(Participant& participant, std::vector<std::string> arguments) {
    const std::vector<std::string> common = options_.as_arguments();
    arguments.insert(arguments.end(), common.begin(), common.end());
    participant.child = std::make_unique<Child>(loop_, arguments);
    participant.child->on_message([this, &participant](const Json& message) { on_message(participant, message); });
    participant.child->on_exit([this, &participant](int code) { on_exit(participant, code); });
    participant.child->start();
  }

  void on_message(Participant& participant, const Json& message) {
    const std::string event = message.value("event", "");
    if (event == "listening") {
      announce_server(message);
      start_swarms(message.at("port").get<std::uint16_t>());
    } else if (event == "started") {
      announce_swarm(message);
    } else if (event == "progress") {
      participant.outcomes.by_outcome = message.at("outcomes").get<std::array<std::uint64_t, kOutcomeCount>>();
      if (&participant != &server_) show_progress();
    } else if (event == "report") {
      participant.report = end_report_from_json(message.at("report"));
    }
  }

  void on_exit(Participant& participant, int code) {
    // A process that ended without a report has said why on stderr. One with a report is judged by its figures.
    if (!participant.report) {
      if (!failure_) failure_ = code > 0 && code < 128 ? code : static_cast<int>(kExitInternal);
      stop_all();
    }
    if (&participant == &server_) {
      for (const auto& swarm : swarms_) {
        if (!swarm->report) swarm->child->stop();
      }
    }
    if (!any_swarm_running()) server_.child->stop();
    if (!any_swarm_running() && !server_.child->running()) watch_.stop();
  }

  bool all_reported() const {
    return server_.report && !swarms_.empty() &&
           std::all_of(swarms_.begin(), swarms_.end(),
                       [](const auto& participant) { return participant->report.has_value(); });
  }

  bool any_swarm_running() const {
    return std::any_of(swarms_.begin(), swarms_.end(),
                       [](const auto& participant) { return participant->child->running(); });
  }

  void stop_all() {
    server_.child->stop();
    for (const auto& participant : swarms_)
      participant->child->stop();
  }

  void show_progress() {
    OutcomeCounts sum;
    for (const auto& participant : swarms_) {
      for (std::size_t i = 0; i < kOutcomeCount; ++i)
        sum.by_outcome[i] += participant->outcomes.by_outcome[i];
    }
    progress_.update(sum.agreed(), failure_note(sum));
  }

  void announce_server(const Json& message) {
    if (!options_.talks()) return;
    print_out("  server   {} port {}, backend {}, {} threads, computes waiting operations in batches of at most {}\n",
              kLoopback, message.at("port").get<int>(), message.at("backend").get<std::string>(),
              message.at("threads").get<unsigned>(), with_commas(options_.policy().cap));
    print_out("           {}\n", message.at("limits").get<std::string>());
    flush_output();
  }

  void announce_swarm(const Json& message) {
    if (!options_.talks() || std::exchange(swarm_announced_, true)) return;
    print_out("  clients  {} process{}, one connection each client, its own KEM work in batches too\n", swarms_.size(),
              swarms_.size() == 1 ? "" : "es");
    print_out("           {}\n", message.at("limits").get<std::string>());
    flush_output();
  }

  const ExchangeOptions& options_;
  asio::io_context loop_;
  Progress progress_;
  Watch watch_;
  Participant server_;
  std::vector<std::unique_ptr<Participant>> swarms_;
  bool swarm_announced_ = false;
  std::optional<int> failure_;
};

}  // namespace

void run_tcp(const ExchangeOptions& options, ExchangeResult& result) {
  TcpRun(options).run(result);
  result.client_processes = std::min(options.client_processes, options.clients);
}

}  // namespace polykem::cli::net
