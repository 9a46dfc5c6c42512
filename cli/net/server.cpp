// SPDX-License-Identifier: Apache-2.0
#include "net/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <asio/ip/address.hpp>

#include "common/exit_codes.hpp"

namespace polykem::cli::net {
namespace {

using asio::ip::tcp;

constexpr auto kAcceptRetry = std::chrono::milliseconds(50);
constexpr auto kServerSweepInterval = std::chrono::milliseconds(100);
constexpr int kBacklog = 4096;
constexpr int kAcceptsPerTurn = 64;
/// While all connections are in use, one without a first frame is dropped after this time, since others may be waiting.
constexpr auto kTimeoutWhenFull = std::chrono::seconds(1);

tcp::endpoint read_endpoint(const ServerOptions& options) {
  asio::error_code error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) {
    throw CliError(kExitUsage, fmt::format("'{}' is not an IP address", options.address),
                   "use e.g. 127.0.0.1 (this machine), 0.0.0.0 or :: (any interface)");
  }
  return {address, options.port};
}

void listen_on(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  asio::error_code error;
  const auto step = [&error](auto&& call) {
    if (!error) call();
  };
  step([&] { acceptor.open(endpoint.protocol(), error); });
  step([&] { acceptor.set_option(tcp::acceptor::reuse_address(true), error); });
  step([&] { acceptor.bind(endpoint, error); });
  step([&] { acceptor.listen(kBacklog, error); });
  step([&] { acceptor.non_blocking(true, error); });
  if (!error) return;
  std::string hint = "check the address and the port";
  if (error == asio::error::address_in_use) hint = "another program listens there: use another --port, or --port 0";
  if (error == asio::error::access_denied) hint = "ports below 1024 need privileges: use another --port, or --port 0";
  throw CliError(
      kExitIo,
      fmt::format("cannot listen on {} port {}: {}", endpoint.address().to_string(), endpoint.port(), error.message()),
      hint);
}

}  // namespace

Server::Server(asio::io_context& loop, const Context& context, const Scheme& scheme, const ServerOptions& options)
    : loop_(loop),
      scheme_(scheme),
      options_(options),
      operations_(loop, context, scheme, options.batch),
      acceptor_(loop),
      accept_timer_(loop),
      sweep_timer_(loop) {
  listen_on(acceptor_, read_endpoint(options));
  endpoint_ = acceptor_.local_endpoint();
  report_.backend = context.backend(scheme);
  report_.threads = context.threads();
  accept();
  sweep_later();
}

bool Server::may_accept() const {
  return !stopping_ && connections_.size() < options_.max_connections;
}

void Server::accept() {
  if (accepting_ || !may_accept()) return;
  acceptor_.async_wait(tcp::acceptor::wait_read, [this](const asio::error_code& error) {
    accepting_ = false;
    if (!error) accept_some();
  });
  accepting_ = true;
}

/// Accepts waiting clients, so that their work goes into one batch, up to a limit, so that other connections are not
/// delayed.
void Server::accept_some() {
  for (int i = 0; i < kAcceptsPerTurn && may_accept(); ++i) {
    asio::error_code error;
    tcp::socket socket(loop_);
    acceptor_.accept(socket, error);
    if (error == asio::error::would_block || error == asio::error::try_again) break;
    if (error == asio::error::connection_aborted) continue;  // a client that gave up in the listen queue
    if (error) return accept_later();                        // out of descriptors or memory, which is temporary
    admit(std::move(socket));
  }
  accept();
}

void Server::admit(tcp::socket socket) {
  if (report_.first_ns == 0) report_.first_ns = now_ns();
  auto connection = std::make_shared<Connection>(std::move(socket), *this);
  connection->attach(std::make_shared<ServerSession>(scheme_, options_.role, *connection));
  connections_.emplace(connection.get(), connection);
  connection->start();
}

void Server::accept_later() {
  accept_timer_.expires_after(kAcceptRetry);
  accept_timer_.async_wait([this](const asio::error_code& error) {
    if (!error) accept();
  });
}

/// One timer serves all connections. Checking each of them costs less than a timer for each.
void Server::sweep_later() {
  sweep_timer_.expires_after(kServerSweepInterval);
  sweep_timer_.async_wait([this](const asio::error_code& error) {
    sweeping_ = false;
    if (error || ended_) return;
    const Clock::time_point oldest = Clock::now() - options_.timeout;
    const Clock::time_point oldest_ungreeted =
        may_accept() ? oldest : std::max(oldest, Clock::now() - kTimeoutWhenFull);
    std::vector<std::shared_ptr<Connection>> open;
    open.reserve(connections_.size());
    for (const auto& [key, connection] : connections_)
      open.push_back(connection);
    for (const auto& connection : open)
      connection->check_deadline(connection->session().greeted() ? oldest : oldest_ungreeted);
    sweep_later();
  });
  sweeping_ = true;
}

void Server::resume() {
  if (stopping_) end_sessions();
  if (!sweeping_ && !ended_) sweep_later();
  accept();
}

void Server::on_finished(Connection& /*connection*/, Outcome outcome, const std::string& detail) {
  report_.outcomes.add(outcome);
  if (!detail.empty()) report_.peer_errors.add(detail);
  report_.last_ns = now_ns();
  if (options_.stop_after != 0 && report_.outcomes.agreed() >= options_.stop_after) stop();
}

void Server::on_closed(Connection& connection) {
  connections_.erase(&connection);
  accept();
  end_if_empty();
}

void Server::stop() {
  if (std::exchange(stopping_, true)) return;
  asio::error_code error;
  acceptor_.close(error);
  accept_timer_.cancel();
  // Posted, because stop() may have been called by one of these connections.
  asio::post(loop_, HandlerIn(stop_memory_, [this] { end_sessions(); }));
}

void Server::end_sessions() {
  std::vector<std::shared_ptr<Connection>> open;
  for (const auto& [key, connection] : connections_)
    open.push_back(connection);
  for (const auto& connection : open)
    connection->session().stop();
  end_if_empty();
}

void Server::end_if_empty() {
  if (!stopping_ || !connections_.empty()) return;
  ended_ = true;
  sweep_timer_.cancel();
  if (on_end_) std::exchange(on_end_, nullptr)();
}

EndReport Server::report() const {
  EndReport out = report_;
  out.batches = operations_.stats();
  return out;
}

}  // namespace polykem::cli::net
