// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include <asio/io_context.hpp>

#include "common/context.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"
#include "net/exchange.hpp"
#include "net/inproc.hpp"
#include "net/watch.hpp"

namespace polykem::cli::net {
namespace {

/// A handshake in progress takes about 10 KB for both ends. More at once gain nothing.
constexpr std::size_t kMaxAtOnce = 16384;

}  // namespace

void run_inproc(const ExchangeOptions& options, const Scheme& scheme, ExchangeResult& result) {
  const Context server = open_context(options.threads, options.backend);
  const Context client = open_context(options.threads, options.backend);
  backend_for(server, scheme);
  server.profile(true);
  InprocOptions settings;
  settings.role = options.parsed_role();
  settings.clients = options.clients;
  settings.concurrency = options.concurrency == 0 ? std::min(options.clients, kMaxAtOnce) : options.concurrency;
  settings.batch = options.policy();
  asio::io_context loop(1);
  InprocExchange exchange(loop, server, client, scheme, settings);
  if (options.talks()) {
    print_out("  one process, no network; {} handshakes under way at once\n", with_commas(settings.concurrency));
    print_out("  server and clients have a pool of {} threads each, backend {}; both compute in batches\n",
              server.threads(), server.backend(scheme));
    flush_output();
  }
  Progress progress("exchanging", options.clients, "clients", options.quiet);
  Watch watch(
      loop, Signals::kFromPeople,
      [&] { progress.update(exchange.outcomes().agreed(), failure_note(exchange.outcomes())); },
      [&] { exchange.stop(); });
  exchange.on_end([&] { watch.stop(); });
  exchange.start();
  loop.run();
  result.server = exchange.server_report();
  result.server.steps = read_steps(server);
  result.client = exchange.client_report();
  result.signal = watch.signal();
}

}  // namespace polykem::cli::net
