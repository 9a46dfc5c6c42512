// SPDX-License-Identifier: Apache-2.0
// The server over TCP.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "net/connection.hpp"

namespace polykem::cli::net {

struct ServerOptions {
  Role role = Role::kServerDecaps;
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;               ///< 0: any free one
  std::uint64_t stop_after = 0;         ///< ends after this many agreed handshakes; 0: never
  std::size_t max_connections = 10000;  ///< at once; further clients wait in the listen queue
  std::chrono::milliseconds timeout{10000};
  BatchPolicy batch;
};

/// Accepts connections and runs a ServerSession on each. Everything happens on the loop's thread.
class Server final : public ConnectionOwner {
 public:
  /// Starts to listen. Throws CliError: usage for a malformed address, io if it cannot listen there.
  Server(asio::io_context& loop, const Context& context, const Scheme& scheme, const ServerOptions& options);
  ~Server() override = default;

  asio::ip::tcp::endpoint endpoint() const { return endpoint_; }
  /// Called once, when stop_after handshakes have agreed or stop() was called, and no connection is left.
  void on_end(std::function<void()> callback) { on_end_ = std::move(callback); }
  /// Accepts no more and ends the open sessions.
  void stop();
  /// Continues after a handler of the loop has thrown std::bad_alloc.
  void resume();

  polykem_batcher* batcher() const { return operations_.batcher(); }
  const OutcomeCounts& outcomes() const { return report_.outcomes; }
  /// The figures so far.
  EndReport report() const;

 private:
  void on_finished(Connection& connection, Outcome outcome, const std::string& detail) override;
  void on_closed(Connection& connection) override;
  KemOperations& operations() override { return operations_; }

  bool may_accept() const;
  void accept();
  void accept_some();
  void admit(asio::ip::tcp::socket socket);
  void accept_later();
  void sweep_later();
  void end_sessions();
  void end_if_empty();

  asio::io_context& loop_;
  Scheme scheme_;
  ServerOptions options_;
  KemOperations operations_;
  asio::ip::tcp::acceptor acceptor_;
  asio::ip::tcp::endpoint endpoint_;
  asio::steady_timer accept_timer_;
  asio::steady_timer sweep_timer_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  HandlerMemory stop_memory_;
  bool accepting_ = false;
  bool sweeping_ = false;
  bool stopping_ = false;
  bool ended_ = false;
  std::function<void()> on_end_;
  EndReport report_;
};

}  // namespace polykem::cli::net
