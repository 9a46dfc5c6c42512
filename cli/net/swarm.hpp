// SPDX-License-Identifier: Apache-2.0
// Many clients in one process, with one connection each and their KEM operations in batches.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "net/connection.hpp"

namespace polykem::cli::net {

struct SwarmOptions {
  Role role = Role::kServerDecaps;
  asio::ip::tcp::endpoint server;
  std::uint64_t clients = 10000;
  std::size_t concurrency = 10000;               ///< clients in progress at once
  std::chrono::milliseconds timeout{60000};      ///< for each answer of the server
  std::chrono::milliseconds connect_wait{3000};  ///< for a server that is not listening yet
  BatchPolicy batch;
};

class SwarmClient;

/// Runs `clients` handshakes, `concurrency` at once. Everything happens on the loop's thread.
class Swarm final : public ConnectionOwner {
 public:
  Swarm(asio::io_context& loop, const Context& context, const Scheme& scheme, const SwarmOptions& options);
  ~Swarm() override = default;

  void start();
  /// Called once, when every client has finished and no connection is left.
  void on_end(std::function<void()> callback) { on_end_ = std::move(callback); }
  /// Starts no more clients and ends those in progress.
  void stop();

  const OutcomeCounts& outcomes() const { return report_.outcomes; }
  /// The figures so far.
  EndReport report() const;

 private:
  friend class SwarmClient;

  void on_finished(Connection& connection, Outcome outcome, const std::string& detail) override;
  void on_closed(Connection& connection) override;
  KemOperations& operations() override { return operations_; }

  void start_clients();
  void queue_connect(std::shared_ptr<SwarmClient> client);
  void connect_some();
  void on_connect_settled();
  bool may_retry(const asio::error_code& error) const;
  void sweep_later();
  void end_if_empty();

  asio::io_context& loop_;
  Scheme scheme_;
  SwarmOptions options_;
  KemOperations operations_;
  asio::steady_timer sweep_timer_;
  std::unordered_map<Connection*, std::shared_ptr<SwarmClient>> clients_;
  std::deque<std::shared_ptr<SwarmClient>> to_connect_;
  std::size_t connecting_ = 0;
  std::uint64_t started_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
  Clock::time_point retry_until_{};
  std::function<void()> on_end_;
  EndReport report_;
};

}  // namespace polykem::cli::net
