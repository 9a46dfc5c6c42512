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
#include <stdexcept>

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

// ECDSA signatures differ in length by a few bytes.
constexpr size_t kSignatureSlack = 16;

void set_reset_on_close(int socket) {
  linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

// Reads everything that arrives until nothing has for 200 ms.
size_t count_answer(int socket) {
  timeval patience{0, 200000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<char, 16384> sink;
  size_t total = 0;
  ssize_t got;
  while ((got = read(socket, sink.data(), sink.size())) > 0)
    total += static_cast<size_t>(got);
  return total;
}

}  // namespace

Recording record(SSL_CTX* context, const sockaddr_in& server) {
  Recording out;
  SSL* ssl = SSL_new(context);
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_connect(ssl);
  out.hello.resize(BIO_ctrl_pending(SSL_get_wbio(ssl)));
  BIO_read(SSL_get_wbio(ssl), out.hello.data(), static_cast<int>(out.hello.size()));
  SSL_free(ssl);
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0 &&
      write(socket, out.hello.data(), out.hello.size()) == static_cast<ssize_t>(out.hello.size()))
    out.answer_bytes = count_answer(socket);
  ::close(socket);
  // An alert is as long as the slack.
  if (out.answer_bytes <= 2 * kSignatureSlack) throw std::runtime_error("the server does not answer the ClientHello");
  out.answer_bytes -= kSignatureSlack;
  return out;
}

void Connection::open(SSL_CTX* context, const sockaddr_in& server, int epoll, uint64_t tag, Clock::time_point begun,
                      Clock::time_point reset_at) {
  close();
  reset_at_ = reset_at;
  begun_ = begun;
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sent_ = received_ = 0;
  ssl_ = recording_ == nullptr ? SSL_new(context) : nullptr;
  if (socket_ < 0 || (ssl_ == nullptr && recording_ == nullptr)) {
    fail("no socket");
    return;
  }
  int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (ssl_ != nullptr) SSL_set_fd(ssl_, socket_);
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
  if (phase_ == Phase::kHandshake) {
    if (Clock::now() >= reset_at_)
      phase_ = reset();
    else
      phase_ = recording_ != nullptr ? replayed() : handshake();
  }
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

Phase Connection::replayed() {
  std::array<char, 16384> sink;
  while (sent_ < recording_->hello.size()) {
    ssize_t put = send(socket_, recording_->hello.data() + sent_, recording_->hello.size() - sent_, MSG_NOSIGNAL);
    if (put < 0) return errno == EAGAIN || errno == ENOTCONN ? Phase::kHandshake : fail(std::strerror(errno));
    sent_ += static_cast<size_t>(put);
  }
  ssize_t got;
  while ((got = read(socket_, sink.data(), sink.size())) > 0)
    received_ += static_cast<size_t>(got);
  if (received_ >= recording_->answer_bytes) {
    handshaken_ = Clock::now();
    set_reset_on_close(socket_);
    return Phase::kDone;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Phase::kHandshake;
  return fail(got < 0 ? std::strerror(errno) : "the server closed the connection");
}

Phase Connection::farewell() {
  std::array<char, 4096> sink;
  ssize_t got;
  while ((got = read(socket_, sink.data(), sink.size())) > 0) {
  }
  // A server may also answer the end of the stream with a reset, but then it has read Finished.
  return got < 0 && (errno == EAGAIN || errno == EINTR) ? Phase::kFarewell : Phase::kDone;
}

Phase Connection::fail(const std::string& what) {
  error_ = what;
  phase_ = Phase::kFailed;
  return phase_;
}

Phase Connection::reset() {
  set_reset_on_close(socket_);
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
