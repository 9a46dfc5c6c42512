// SPDX-License-Identifier: Apache-2.0
// One TCP connection that carries one session.
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
  /// The handshake has ended. The connection may still be sending the reason.
  virtual void on_finished(Connection& connection, Outcome outcome, const std::string& detail) = 0;
  /// The socket is closed; the owner drops the connection.
  virtual void on_closed(Connection& connection) = 0;
  virtual KemOperations& operations() = 0;
};

/// Non-blocking reads into a buffer that the loop's connections share, and writes that wait only if the kernel's buffer
/// is full.
class Connection : public SessionHost, public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, ConnectionOwner& owner) : socket_(std::move(socket)), owner_(owner) {}
  /// Not connected yet.
  Connection(asio::io_context& loop, ConnectionOwner& owner) : socket_(loop), owner_(owner) {}
  ~Connection() override;

  void attach(std::shared_ptr<Session> session) { session_ = std::move(session); }
  Session& session() { return *session_; }
  /// Starts reading. The socket is connected.
  void start();
  /// Ends the session, or the goodbye after it, if it has waited since before `oldest`.
  void check_deadline(Clock::time_point oldest);
  /// Closes the socket at once.
  void close();

  void send(ByteView bytes) override;
  void compute(polykem_op op) override { owner_.operations().add(op, session_); }
  void look() override;
  void finished(Outcome outcome, const std::string& detail) override;

 protected:
  asio::ip::tcp::socket socket_;
  ConnectionOwner& owner_;

 private:
  /// Without memory for `work` the session ends and the connection is closed; the others go on.
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
  std::optional<Clock::time_point> goodbye_since_;  // set once the session is over and the other end is being told why
};

}  // namespace polykem::cli::net
