// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include <asio/io_context.hpp>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "net/exchange.hpp"
#include "net/watch.hpp"

namespace polykem::cli::net {
namespace {

/// Longer than serve's, because all clients come at once and share the machine with the server.
constexpr double kExchangeTimeoutSeconds = 600;

void announce(const ExchangeOptions& options, const Scheme& scheme) {
  if (!options.talks()) return;
  print_out("{} key exchange, {} client{}, {}\n", scheme.info().title, with_commas(options.clients),
            options.clients == 1 ? "" : "s", options.transport == "tcp" ? "over tcp" : "in one process");
  if (options.parsed_role() == Role::kServerDecaps) {
    print_out("  each client gets a public key made for it and encapsulates; the server decapsulates\n");
  } else {
    print_out("  each client makes a key pair and sends the public key; the server encapsulates\n");
  }
  flush_output();
}

/// Repeats the exchange with one client after another, for about `seconds`.
void run_sequential(const ExchangeOptions& options, double seconds, ExchangeResult& result) {
  constexpr double kNetworkSeconds = 300e-6;  // the rough cost of a connection without computation
  const double each = result.comparison->single.whole() + kNetworkSeconds;
  ExchangeOptions one = options;
  one.clients = std::clamp<std::size_t>(static_cast<std::size_t>(seconds / each), 1, options.clients);
  one.client_processes = 1;
  one.concurrency = 1;
  one.batch = "1";
  one.progress_label = "for comparison, one at a time over tcp";
  one.announce = false;
  ExchangeResult sequential;
  run_tcp(one, sequential);
  result.signal = sequential.signal;
  if (result.signal != 0) return result.comparison.reset();
  if (sequential.agreed() != one.clients) throw CliError(kExitCheckFailed, "not every client agreed one at a time");
  result.sequential_clients = one.clients;
  result.sequential_per_s = sequential.handshakes_per_s();
}

/// Measures the costs. If a signal comes meanwhile, sets `result.signal` instead.
void compare_in_process(const ExchangeOptions& options, const Scheme& scheme, double seconds, ExchangeResult& result) {
  struct Interrupted {};
  asio::io_context loop;
  Watch watch(
      loop, Signals::kFromPeople, [] {}, [] { throw Interrupted(); });
  try {
    const Context context = open_context(options.threads, options.backend);
    Progress progress("for comparison, one at a time", options.clients, "handshakes", options.quiet);
    const std::size_t batch_size = std::min(options.policy().cap, options.clients);
    result.comparison = compare_costs(context, scheme, batch_size, options.clients, seconds, [&](std::uint64_t done) {
      progress.update(done);
      loop.poll();
    });
  } catch (const Interrupted&) {
    result.signal = watch.signal();
  }
}

void compare(const ExchangeOptions& options, const Scheme& scheme, ExchangeResult& result) {
  const bool tcp = options.transport == "tcp";
  const double tcp_seconds = tcp ? options.compare_seconds / 3 : 0;
  compare_in_process(options, scheme, options.compare_seconds - tcp_seconds, result);
  if (tcp && result.signal == 0) run_sequential(options, tcp_seconds, result);
}

int exchange(const ExchangeOptions& options) {
  const Scheme scheme = open_scheme(options.scheme);
  ExchangeResult result;
  result.scheme = scheme.name();
  result.title = scheme.info().title;
  result.role = options.parsed_role();
  result.transport = options.transport;
  result.clients = options.clients;
  announce(options, scheme);
  if (options.transport == "tcp") {
    run_tcp(options, result);
  } else {
    run_inproc(options, scheme, result);
  }
  const bool all_agreed = result.agreed() == options.clients;
  if (all_agreed && result.signal == 0 && options.compare_seconds > 0) compare(options, scheme, result);
  if (options.talks()) print_out("\n{}", render(result));
  write_json(options.json, to_json(result));
  if (result.signal != 0) return interrupted(result.signal, result.agreed(), options.clients);
  return all_agreed ? kExitOk : kExitCheckFailed;
}

}  // namespace

void register_exchange(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExchangeOptions>();
  CLI::App* command =
      app.add_subcommand("exchange", "Exchange keys between a server and many clients, and compare every secret");
  command->footer(
      "Examples:\n"
      "  polykem exchange --scheme mlkem768 --clients 10000\n"
      "  polykem exchange --role server-encaps --transport inproc --clients 1000\n"
      "  polykem exchange --scheme frodokem976aes --batch 64 --clients 1000 --json report.json");
  add_count(*command, "--clients", options->clients, "Clients (default 10000)");
  command
      ->add_option("--transport", options->transport,
                   "tcp: a server process and client processes over loopback (default); "
                   "inproc: the same handshakes without a network")
      ->check(CLI::IsMember({"tcp", "inproc"}))
      ->type_name("tcp|inproc");
  add_count(*command, "--concurrency", options->concurrency,
            "Clients in progress at once (default: as many as possible)");
  add_count(*command, "--client-processes", options->client_processes,
            "Processes that share the clients (default 1; tcp)");
  command
      ->add_option(
          "--compare-seconds", options->compare_seconds,
          "Time limit for repeating the work one at a time and in batches, to compare; 0: skip this (default 6)")
      ->check(within(0.0, 3600.0))
      ->type_name("S");
  add_net_options(*command, *options, kExchangeTimeoutSeconds);
  command->callback([options, &exit_code] { exit_code = exchange(*options); });
}

}  // namespace polykem::cli::net
