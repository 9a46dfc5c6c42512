// SPDX-License-Identifier: Apache-2.0
// A TCP connection, which carries one session.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "net/operations.hpp"
#include "net/session.hpp"

namespace polykem::cli::net {

class Connection;

/// The owner of the connections of one end.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// The handshake has ended. The connection may still be sending an ERROR frame.
  virtual void on_finished(Connection& connection, Outcome outcome, const std::string& detail) = 0;
  /// The socket is closed; the owner drops the connection.
  virtual void on_closed(Connection& connection) = 0;
  virtual KemOperations& operations() = 0;
};

/// Reads without blocking into a buffer that all connections of the loop share, and queues what the kernel's buffer
/// cannot take.
class Connection : public SessionHost, public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, ConnectionOwner& owner) : socket_(std::move(socket)), owner_(owner) {}
  /// Creates a connection that is not connected yet.
  Connection(asio::io_context& loop, ConnectionOwner& owner) : socket_(loop), owner_(owner) {}
  ~Connection() override;

  void attach(std::shared_ptr<Session> session) { session_ = std::move(session); }
  Session& session() { return *session_; }
  /// Starts reading. The socket must be connected.
  void start();
  /// Ends the session, or the wait for the other end to close, if it has waited since before `oldest`.
  void check_deadline(Clock::time_point oldest);
  /// Closes the socket at once.
  void close();

  void send(ByteView bytes) override;
  void compute(polykem_op op) override { owner_.operations().add(op, session_); }
  void check_disconnect() override;
  void finished(Outcome outcome, const std::string& detail) override;

 protected:
  asio::ip::tcp::socket socket_;
  ConnectionOwner& owner_;

 private:
  /// Runs `work`. If it runs out of memory, the session ends and the connection is closed; others continue.
  template <class Work>
  void unless_no_memory(Work&& work);
  void wait_readable();
  void on_readable();
  void flush();
  void shut_down_after_flush();

  std::shared_ptr<Session> session_;
  Bytes unsent_;
  bool flushing_ = false;
  bool closed_ = false;
  std::optional<Clock::time_point> closing_since_;  ///< set once the session has ended, until the other end closes
};

}  // namespace polykem::cli::net
