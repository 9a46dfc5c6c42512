// SPDX-License-Identifier: Apache-2.0
// The two ends of a handshake as state machines. They handle frames and states but no sockets or threads: a SessionHost
// carries their bytes and runs their KEM operations, so that tcp and inproc use the same sessions.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <polykem/polykem.hpp>

#include "net/confirm.hpp"
#include "net/frame.hpp"
#include "net/operations.hpp"
#include "net/outcome.hpp"

namespace polykem::cli::net {

using Clock = std::chrono::steady_clock;

class Session;

/// The host of a session, which carries its bytes and runs its operations. Everything happens on the loop's thread.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  /// A client session is ready. Its host connects and then calls Session::on_connected.
  virtual void open() {}
  /// Sends bytes to the other end, in order.
  virtual void send(ByteView bytes) = 0;
  /// Queues one KEM operation of the session.
  virtual void compute(polykem_op op) = 0;
  /// Checks whether the other end has hung up, and reports it at once.
  virtual void check_disconnect() {}
  /// The handshake has ended; called once. detail: the other end's error text, or empty.
  virtual void finished(Outcome outcome, const std::string& detail) = 0;
};

/// The common base of both ends: it parses frames, refuses unexpected ones, and keeps the transcript.
class Session : public KemUser {
 public:
  Session(const Scheme& scheme, Role role, SessionHost& host) : scheme_(scheme), role_(role), host_(&host) {}

  /// Bytes have arrived from the other end, split in any way.
  void on_bytes(ByteView bytes);
  /// The other end has closed; nothing will follow.
  void on_disconnect();
  /// There is no memory to continue. The session ends without an ERROR frame.
  void on_no_memory();
  /// This end is being stopped: the session ends.
  void stop() { fail(Outcome::kStopped); }
  /// The host could not connect.
  void on_connect_failed(const std::string& detail) { finish(Outcome::kConnectFailed, detail); }
  /// Ends the handshake if the other end has owed a frame since before `oldest`.
  void check_deadline(Clock::time_point oldest);

  bool done() const { return done_; }
  /// True after the first whole frame has arrived.
  bool greeted() const { return greeted_; }
  /// The host is being destroyed; the session will not call it again.
  void detach() {
    host_ = nullptr;
    kem_cancel();
  }

  void kem_starting() final {
    if (host_ != nullptr) host_->check_disconnect();
  }
  void kem_done(polykem_op op, polykem_status status, const KemOutput& out) final;

 protected:
  /// The only frame that is allowed next, besides ERROR, with its allowed payload sizes.
  struct Expected {
    FrameType type;
    std::size_t min_bytes;
    std::size_t max_bytes;
  };
  /// std::nullopt: no frame is allowed in this state. Not called while an operation of this session runs.
  virtual std::optional<Expected> expected() const = 0;
  virtual void on_frame(FrameType type, ByteView payload) = 0;
  /// An operation that compute() queued has succeeded.
  virtual void on_result(polykem_op op, const KemOutput& out) = 0;
  /// The outcome if the other end closes now, cleanly or not.
  virtual Outcome outcome_of_disconnect() const { return Outcome::kDisconnected; }
  /// The outcome if nothing arrives in time.
  virtual Outcome outcome_of_timeout() const;

  void send_frame(FrameType type, ByteView payload);
  void compute(polykem_op op);
  void finish(Outcome outcome, const std::string& detail = {});
  /// Sends the reason in an ERROR frame, then finishes.
  void fail(Outcome outcome);
  /// From now on the other end owes a frame.
  void wait_for_peer() { waiting_since_ = Clock::now(); }
  /// Computes both tags from the shared secret, which is not kept. Ends the transcript.
  void derive_tags(ByteView secret);

  const Scheme& scheme() const { return scheme_; }
  bool heard() const { return heard_; }
  SessionHost* host() const { return host_; }
  Role role() const { return role_; }
  Expected exactly(FrameType type, std::size_t bytes) const { return {type, bytes, bytes}; }

  Transcript transcript_;
  Tag client_tag_{};
  Tag server_tag_{};

 private:
  void drain();
  std::optional<Outcome> objection(const ParseResult& frame) const;
  void on_error_frame(ByteView payload);

  Scheme scheme_;
  Role role_;
  SessionHost* host_;
  Bytes pending_;  ///< bytes of incomplete frames, or of frames that wait while an operation runs
  bool heard_ = false;
  bool greeted_ = false;
  bool busy_ = false;  ///< an operation of this session is queued or running
  bool done_ = false;
  std::optional<Clock::time_point> waiting_since_;
};

/// The server's end of one connection.
class ServerSession final : public Session {
 public:
  ServerSession(const Scheme& scheme, Role role, SessionHost& host);

  KemInput kem_input(polykem_op op) const override;

 private:
  void on_result(polykem_op op, const KemOutput& out) override;

  enum class State { kHello, kMakingKey, kAwaitKey, kAwaitCiphertext, kComputing, kAwaitConfirm, kConfirmed };

  std::optional<Expected> expected() const override;
  void on_frame(FrameType type, ByteView payload) override;
  Outcome outcome_of_disconnect() const override;
  Outcome outcome_of_timeout() const override;
  void on_hello(ByteView payload);
  void on_public_key(ByteView payload);
  void on_ciphertext(ByteView payload);
  void on_confirm(ByteView payload);

  State state_ = State::kHello;
  Bytes public_key_;        ///< with server-encaps: the client's
  SecretBytes secret_key_;  ///< with server-decaps: made for this client
  Bytes ciphertext_;        ///< with server-decaps: the client's
};

/// The client's end of one connection.
class ClientSession final : public Session {
 public:
  ClientSession(const Scheme& scheme, Role role, SessionHost& host) : Session(scheme, role, host) {}

  /// Makes the key pair if this role needs one, then asks the host to open the connection.
  void start();
  void on_connected();

  KemInput kem_input(polykem_op op) const override;

 private:
  void on_result(polykem_op op, const KemOutput& out) override;

  enum class State { kMakingKey, kConnecting, kAwaitKey, kAwaitCiphertext, kComputing, kAwaitConfirm };

  std::optional<Expected> expected() const override;
  void on_frame(FrameType type, ByteView payload) override;
  void open();

  State state_ = State::kMakingKey;
  Bytes public_key_;
  SecretBytes secret_key_;  ///< with server-encaps: this client's
  Bytes ciphertext_;
};

}  // namespace polykem::cli::net
