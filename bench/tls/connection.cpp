// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tls_load {
namespace {

std::string openssl_error() {
  std::array<char, 256> text{};
  unsigned long code = ERR_get_error();
  if (code == 0) return "the server closed the connection";
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

}  // namespace

void Connection::open(SSL_CTX* context, const sockaddr_in& server, int epoll, uint64_t tag,
                      Clock::time_point reset_at) {
  close();
  reset_at_ = reset_at;
  begun_ = Clock::now();
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  ssl_ = SSL_new(context);
  if (socket_ < 0 || ssl_ == nullptr) {
    fail("no socket");
    return;
  }
  int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  SSL_set_fd(ssl_, socket_);
  SSL_set_connect_state(ssl_);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0 && errno != EINPROGRESS) {
    fail(std::strerror(errno));
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLET;
  event.data.u64 = tag;
  epoll_ctl(epoll, EPOLL_CTL_ADD, socket_, &event);
  phase_ = Phase::kHandshake;
}

Phase Connection::advance() {
  if (phase_ == Phase::kHandshake) phase_ = Clock::now() < reset_at_ ? handshake() : reset();
  if (phase_ == Phase::kFarewell) phase_ = farewell();
  return phase_;
}

Phase Connection::handshake() {
  ERR_clear_error();
  int result = SSL_connect(ssl_);
  if (result == 1) {
    handshaken_ = Clock::now();
    SSL_shutdown(ssl_);
    ::shutdown(socket_, SHUT_WR);
    return Phase::kFarewell;
  }
  int reason = SSL_get_error(ssl_, result);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return Phase::kHandshake;
  // SSL_connect was too early: TCP is still connecting.
  if (reason == SSL_ERROR_SYSCALL && errno == ENOTCONN) return Phase::kHandshake;
  return fail(reason == SSL_ERROR_SYSCALL && errno != 0 ? std::strerror(errno) : openssl_error());
}

Phase Connection::farewell() {
  std::array<char, 4096> sink;
  ssize_t got;
  while ((got = read(socket_, sink.data(), sink.size())) > 0) {
  }
  // A server may also answer the end of the stream by a reset; it has read Finished all the same.
  return got < 0 && (errno == EAGAIN || errno == EINTR) ? Phase::kFarewell : Phase::kDone;
}

Phase Connection::fail(const std::string& what) {
  error_ = what;
  phase_ = Phase::kFailed;
  return phase_;
}

Phase Connection::reset() {
  linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  return Phase::kReset;
}

void Connection::close() {
  SSL_free(ssl_);
  ssl_ = nullptr;
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  phase_ = Phase::kIdle;
}

}  // namespace tls_load
