// SPDX-License-Identifier: Apache-2.0
// polykem swarm: many clients in one process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/progress.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "net/limits.hpp"
#include "net/options.hpp"
#include "net/process.hpp"
#include "net/report.hpp"
#include "net/swarm.hpp"
#include "net/watch.hpp"

namespace polykem::cli::net {
namespace {

/// Longer than the server's, because a server with thousands of clients may let each of them wait.
constexpr double kSwarmTimeoutSeconds = 60;

struct SwarmCommandOptions : NetOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::size_t clients = 10000;
  std::size_t concurrency = 0;
};

asio::ip::tcp::endpoint resolve(asio::io_context& loop, const SwarmCommandOptions& options) {
  asio::error_code error;
  asio::ip::tcp::resolver resolver(loop);
  const auto found = resolver.resolve(options.address, std::to_string(options.port), error);
  if (error || found.empty()) {
    throw CliError(kExitIo, fmt::format("cannot find '{}': {}", options.address, error.message()),
                   "name the address of a running 'polykem serve' with --address");
  }
  return found.begin()->endpoint();
}

SwarmOptions swarm_options(const SwarmCommandOptions& options, std::size_t concurrency) {
  SwarmOptions out;
  out.role = options.parsed_role();
  out.clients = options.clients;
  out.concurrency = concurrency;
  out.timeout = options.timeout();
  out.batch = options.policy();
  return out;
}

void announce(const SwarmCommandOptions& options, const EndReport& report, const FdBudget& budget) {
  if (options.pipe >= 0) {
    return write_message(options.pipe, Json{{"event", "started"}, {"limits", budget.note}});
  }
  if (options.quiet || json_to_stdout(options.json)) return;
  print_out("{} clients, {} at once, against {} port {}\n", with_commas(options.clients),
            with_commas(budget.connections), options.address, options.port);
  print_out("  {}, {}, backend {}, {} threads; {}\n", options.scheme, options.role, report.backend, report.threads,
            budget.note);
  print_out("  the clients' own KEM operations run in batches too\n");
  flush_output();
}

void conclude(const SwarmCommandOptions& options, const EndReport& report) {
  if (options.pipe >= 0) return write_message(options.pipe, Json{{"event", "report"}, {"report", to_json(report)}});
  if (!options.quiet && !json_to_stdout(options.json)) print_out("{}", render_end(report, "clients", false));
  write_json(options.json, end_to_json(report, options, "swarm"));
}

int exit_code_for(const SwarmCommandOptions& options, const EndReport& report) {
  if (report.outcomes.agreed() == options.clients) return kExitOk;
  return report.outcomes.of(Outcome::kConnectFailed) == options.clients ? kExitIo : kExitCheckFailed;
}

int swarm(SwarmCommandOptions options) {
  const Scheme scheme = open_scheme(options.scheme);
  options.scheme = scheme.name();
  const Context context = open_context(options.threads, options.backend);
  backend_for(context, scheme);
  asio::io_context loop(1);
  const std::size_t asked = options.concurrency == 0 ? options.clients : std::min(options.concurrency, options.clients);
  const FdBudget budget = budget_connections(asked);
  SwarmOptions settings = swarm_options(options, budget.connections);
  settings.server = resolve(loop, options);
  Swarm clients(loop, context, scheme, settings);
  announce(options, clients.report(), budget);
  Progress progress("exchanged", options.clients, "clients", options.quiet || options.pipe >= 0);
  Watch watch(
      loop, options.pipe >= 0 ? Signals::kFromParent : Signals::kFromPeople,
      [&] {
        progress.update(clients.outcomes().agreed(), failure_note(clients.outcomes()));
        if (options.pipe >= 0) {
          write_message(options.pipe, Json{{"event", "progress"}, {"outcomes", clients.outcomes().by_outcome}});
        }
      },
      [&] { clients.stop(); });
  clients.on_end([&] { watch.stop(); });
  clients.start();
  loop.run();
  progress.finish();
  EndReport report = clients.report();
  report.limits = {budget.note};
  conclude(options, report);
  const std::uint64_t agreed = report.outcomes.agreed();
  const bool wrong = report.outcomes.of(Outcome::kMismatch) != 0;  // takes precedence over the signal
  if (watch.signal() != 0 && !wrong && options.pipe < 0 && agreed < options.clients)
    return interrupted(watch.signal(), agreed, options.clients);
  return exit_code_for(options, report);
}

}  // namespace

void register_swarm(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SwarmCommandOptions>();
  CLI::App* command =
      app.add_subcommand("swarm", "Run the clients' half of an exchange: many clients of 'polykem serve'");
  command->footer(
      "Examples:\n"
      "  polykem swarm --port 4433 --clients 100\n"
      "  polykem swarm --scheme mlkem768 --address server.example --port 4433 --clients 10000 --json report.json");
  command->add_option("--address", options->address, "The server's address (default 127.0.0.1)")->type_name("HOST");
  command->add_option("--port", options->port, "The server's port")
      ->required()
      ->check(CLI::Range(1, 65535))
      ->type_name("N");
  add_count(*command, "--clients", options->clients, "Clients, one connection each (default 10000)");
  add_count(*command, "--concurrency", options->concurrency,
            "Clients in progress at once (default: as many as possible)");
  add_net_options(*command, *options, kSwarmTimeoutSeconds);
  command->callback([options, &exit_code] { exit_code = swarm(*options); });
}

}  // namespace polykem::cli::net
