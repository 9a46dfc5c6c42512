// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tls_load {

using Clock = std::chrono::steady_clock;

// The phase of a connection.
enum class Phase { kIdle, kHandshake, kFarewell, kDone, kReset, kFailed };

// A ClientHello that is sent repeatedly, and the least length of the server's answer to it.
struct Recording {
  std::vector<uint8_t> hello;
  size_t answer_bytes = 0;
};

// Connects once. Throws std::runtime_error when the server does not answer.
Recording record(SSL_CTX* context, const sockaddr_in& server);

// One TLS connection after the other on a non-blocking socket: TCP connect, handshake, then close_notify and the end of
// the stream in both directions, so that the server has read the client's Finished.
class Connection {
 public:
  ~Connection() { close(); }

  // Sends a recorded ClientHello instead of making a handshake. The handshake is over when the server's answer has
  // come, and ends by RST, since there is no Finished. It costs the client next to nothing.
  void replay(const Recording* recording) { recording_ = recording; }

  // Begins to connect and registers with epoll under `tag`. Its time counts from `begun`, which may be past. If the
  // handshake is not finished at reset_at, advance() ends it by RST.
  void open(SSL_CTX* context, const sockaddr_in& server, int epoll, uint64_t tag, Clock::time_point begun,
            Clock::time_point reset_at);
  // Continues as far as possible without blocking. Returns the phase that it reaches.
  Phase advance();
  // Fails a connection that takes too long.
  void give_up() { fail("no answer in time"); }
  void close();

  Phase phase() const { return phase_; }
  Clock::time_point begun() const { return begun_; }
  Clock::time_point reset_at() const { return reset_at_; }
  // Returns the time from `begun` of open() to the client's Finished.
  Clock::duration handshake_time() const { return handshaken_ - begun_; }
  const std::string& error() const { return error_; }

 private:
  Phase handshake();
  Phase replayed();
  Phase farewell();
  Phase reset();
  Phase fail(const std::string& what);

  SSL* ssl_ = nullptr;
  int socket_ = -1;
  const Recording* recording_ = nullptr;
  size_t sent_ = 0, received_ = 0;
  Phase phase_ = Phase::kIdle;
  Clock::time_point begun_, handshaken_, reset_at_;
  std::string error_;
};

}  // namespace tls_load
