// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cmath>
#include <memory>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/table.hpp"
#include "net/commands.hpp"
#include "net/exchange.hpp"

namespace polykem::cli::net {
namespace {

// All clients are our own and share the machine with the server: whoever comes last waits for all the others' work.
constexpr double kTimeoutSeconds = 600;

void announce(const ExchangeOptions& options, const Scheme& scheme) {
  if (!options.talks()) return;
  fmt::print("{} key exchange, {} client{}, {}\n", scheme.info().title, with_commas(options.clients),
             options.clients == 1 ? "" : "s", options.transport == "tcp" ? "over tcp" : "in one process");
  if (options.parsed_role() == Role::kServerDecaps) {
    fmt::print("  each client gets a public key made for it and encapsulates; the server decapsulates\n");
  } else {
    fmt::print("  each client makes a key pair and sends the public key; the server encapsulates\n");
  }
  std::fflush(stdout);
}

// The exchange's own mean sizes: an operation that the clients ran is batched as they ran it.
std::array<std::size_t, 3> mean_batch_sizes(const ExchangeResult& result) {
  std::array<std::size_t, 3> sizes{1, 1, 1};
  for (std::size_t op = 0; op < sizes.size(); ++op) {
    const SizeCounts& server = result.server.batches.by_op[op];
    const SizeCounts& client = result.client.batches.by_op[op];
    const SizeCounts& counts = server.empty() ? client : server;
    if (!counts.empty()) sizes[op] = std::max<std::size_t>(static_cast<std::size_t>(std::lround(counts.mean())), 1);
  }
  return sizes;
}

Comparison compare(const ExchangeOptions& options, const Scheme& scheme, const ExchangeResult& result) {
  const Context context = open_context(options.threads, options.backend);
  Progress progress("for comparison, one at a time", options.clients, "handshakes", options.quiet);
  return compare_costs(context, scheme, mean_batch_sizes(result), options.clients, options.compare_seconds,
                       [&](std::uint64_t done) { progress.update(done); });
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
  if (all_agreed && options.compare_seconds > 0) result.comparison = compare(options, scheme, result);
  if (options.talks()) fmt::print("\n{}", render(result));
  write_json(options.json, to_json(result));
  return all_agreed ? kExitOk : kExitCheckFailed;
}

}  // namespace

void register_exchange_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExchangeOptions>();
  CLI::App* command =
      app.add_subcommand("exchange", "A server exchanges keys with many clients, and compares every secret");
  add_count(*command, "--clients", options->clients, "Clients (default 10000)");
  command
      ->add_option("--transport", options->transport,
                   "tcp: a server process and client processes over loopback (default); "
                   "inproc: the same handshakes without a network")
      ->check(CLI::IsMember({"tcp", "inproc"}))
      ->type_name("tcp|inproc");
  add_count(*command, "--concurrency", options->concurrency, "Clients under way at once (default: all that may be)");
  add_count(*command, "--client-processes", options->client_processes,
            "Processes that share the clients (default 1; tcp)");
  command
      ->add_option(
          "--compare-seconds", options->compare_seconds,
          "Longest time for doing the same again one at a time and in batches, to compare; 0: not at all (default 6)")
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("S");
  add_net_options(*command, *options, kTimeoutSeconds);
  command->callback([options, &exit_code] { exit_code = exchange(*options); });
}

}  // namespace polykem::cli::net
