// SPDX-License-Identifier: Apache-2.0
// polykem serve: the server's half of an exchange.
#include <fmt/format.h>

#include <chrono>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include <asio/io_context.hpp>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "metrics/exporter.hpp"
#include "net/limits.hpp"
#include "net/options.hpp"
#include "net/process.hpp"
#include "net/report.hpp"
#include "net/server.hpp"
#include "net/watch.hpp"

namespace polykem::cli::net {
namespace {

constexpr double kServeTimeoutSeconds = 10;
constexpr std::size_t kDefaultConnections = 10000;

struct ServeOptions : NetOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::size_t clients = 0;
  std::size_t max_clients = 0;
  std::string metrics;
  std::string broker;
};

ServerOptions server_options(const ServeOptions& options, std::size_t max_connections) {
  ServerOptions out;
  out.role = options.parsed_role();
  out.address = options.address;
  out.port = options.port;
  out.stop_after = options.clients;
  out.max_connections = max_connections;
  out.timeout = options.timeout();
  out.batch = options.policy();
  out.batch.broker = options.broker;
  return out;
}

void announce(const ServeOptions& options, const Server& server, const EndReport& report, const std::string& limits) {
  const auto endpoint = server.endpoint();
  if (options.pipe >= 0) {
    return write_message(options.pipe, Json{{"event", "listening"},
                                            {"port", endpoint.port()},
                                            {"backend", report.backend},
                                            {"threads", report.threads},
                                            {"limits", limits}});
  }
  if (options.quiet || json_to_stdout(options.json)) {
    // The user asked for any free port and must learn which one it is.
    if (options.port == 0) print_error("listening on {} port {}\n", endpoint.address().to_string(), endpoint.port());
    return;
  }
  print_out("listening on {} port {}\n", endpoint.address().to_string(), endpoint.port());
  print_out("  {}, {}, backend {}, {} threads; {}\n", options.scheme, options.role, report.backend, report.threads,
            limits);
  print_out("  {}\n", options.clients == 0
                          ? "until Ctrl-C"
                          : fmt::format("until {} handshakes have agreed", with_commas(options.clients)));
  flush_output();
}

void conclude(const ServeOptions& options, const EndReport& report) {
  if (options.pipe >= 0) return write_message(options.pipe, Json{{"event", "report"}, {"report", to_json(report)}});
  if (!options.quiet && !json_to_stdout(options.json)) print_out("{}", render_end(report, "server", true));
  write_json(options.json, end_to_json(report, options, "serve"));
}

/// Runs the loop to its end. If a handler runs out of memory, waits briefly, calls `resume` and continues.
template <class Resume>
void run_despite_bad_alloc(asio::io_context& loop, Resume&& resume) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  bool again = false;
  while (true) {
    try {
      if (std::exchange(again, false)) resume();
      loop.run();
      return;
    } catch (const std::bad_alloc&) {
      again = true;
      loop.restart();
      std::this_thread::sleep_for(kPause);
    }
  }
}

int serve(ServeOptions options) {
  const Scheme scheme = open_scheme(options.scheme);
  options.scheme = scheme.name();
  const Context context = open_context(options.threads, options.backend);
  backend_for(context, scheme);
  const std::size_t wanted = options.max_clients != 0 ? options.max_clients
                             : options.clients != 0   ? options.clients
                                                      : kDefaultConnections;
  asio::io_context loop(1);
  const FdBudget budget = budget_connections(wanted);
  context.profile(true);
  Server server(loop, context, scheme, server_options(options, budget.connections));
  std::optional<Exporter> exporter;
  if (!options.metrics.empty()) exporter.emplace(options.metrics, MetricsSource{"polykem serve", server.batcher()});
  announce(options, server, server.report(), budget.note);
  if (exporter && options.pipe < 0 && !options.quiet && !json_to_stdout(options.json)) {
    print_out("  metrics at port {}\n", exporter->port());
    flush_output();
  }
  Progress progress("served", options.clients == 0 ? 1 : options.clients, "clients",
                    options.quiet || options.pipe >= 0 || options.clients == 0);
  Watch watch(
      loop, options.pipe >= 0 ? Signals::kFromParent : Signals::kFromPeople,
      [&] {
        progress.update(server.outcomes().agreed(), failure_note(server.outcomes()));
        if (options.pipe >= 0) {
          write_message(options.pipe, Json{{"event", "progress"}, {"outcomes", server.outcomes().by_outcome}});
        }
      },
      [&] { server.stop(); });
  server.on_end([&] { watch.stop(); });
  run_despite_bad_alloc(loop, [&] {
    server.resume();
    watch.resume();
  });
  progress.finish();
  EndReport report = server.report();
  report.limits = {budget.note};
  report.steps = read_steps(context);
  conclude(options, report);
  // Without a number of clients, a signal is the normal end. A parent process reads the report instead.
  const std::uint64_t agreed = report.outcomes.agreed();
  const bool wrong = report.outcomes.of(Outcome::kMismatch) != 0;  // takes precedence over the signal
  if (watch.signal() != 0 && !wrong && options.pipe < 0 && agreed < options.clients)
    return interrupted(watch.signal(), agreed, options.clients);
  return report.outcomes.of(Outcome::kMismatch) == 0 ? kExitOk : kExitCheckFailed;
}

}  // namespace

void register_serve(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Run the server's half of an exchange, for the clients of 'polykem swarm'");
  command->footer(
      "Examples:\n"
      "  polykem serve --port 4433                                 until Ctrl-C\n"
      "  polykem serve --scheme mlkem768 --address 0.0.0.0 --port 4433 --clients 10000 --json report.json");
  command->add_option("--address", options->address, "IP address to listen on (default 127.0.0.1)")->type_name("IP");
  command->add_option("--port", options->port, "Port; 0: any free one, which is printed (default 0)")->type_name("N");
  command->add_option("--clients", options->clients, "Stop after N agreed handshakes; 0: serve until Ctrl-C (default)")
      ->type_name("N");
  command
      ->add_option("--max-clients", options->max_clients,
                   "Limit of connections; more wait in the listen queue (default: the limit of open files)")
      ->type_name("N");
  command
      ->add_option("--metrics", options->metrics,
                   "HOST:PORT; publish figures for Prometheus at http://HOST:PORT/metrics")
      ->type_name("ADDRESS");
  command->add_option("--broker", options->broker, "Socket of a polykemd that may compute as well")->type_name("FILE");
  add_net_options(*command, *options, kServeTimeoutSeconds);
  command->callback([options, &exit_code] { exit_code = serve(*options); });
}

}  // namespace polykem::cli::net
