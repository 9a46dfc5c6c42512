// SPDX-License-Identifier: Apache-2.0
#include "net/connection.hpp"

#include <poll.h>

#include <array>
#include <memory>
#include <new>

#include <asio/buffer.hpp>

namespace polykem::cli::net {
namespace {

/// The time for the other end to read an ERROR frame and to close.
constexpr auto kCloseTimeout = std::chrono::seconds(1);
constexpr int kReadsPerTurn = 4;

bool would_block(const asio::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

Connection::~Connection() {
  if (session_) session_->detach();
}

template <class Work>
void Connection::unless_no_memory(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    session_->on_no_memory();
    close();
  }
}

void Connection::start() {
  asio::error_code error;
  socket_.non_blocking(true, error);
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  unless_no_memory([this] { wait_readable(); });
}

void Connection::wait_readable() {
  if (closed_) return;
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->unless_no_memory([&] { self->on_readable(); });
  });
}

/// Reads a few times per turn of the loop, so that one busy peer cannot starve the others.
void Connection::on_readable() {
  // On the heap, because thread_local variables take stack of every thread, and an HTTP server's threads have 100 KB.
  static thread_local const auto memory = std::make_unique<std::array<std::uint8_t, 65536>>();
  std::array<std::uint8_t, 65536>& buffer = *memory;
  for (int i = 0; i < kReadsPerTurn && !closed_; ++i) {
    asio::error_code error;
    const std::size_t size = socket_.read_some(asio::buffer(buffer), error);
    if (would_block(error)) break;
    if (error) {
      session_->on_disconnect();
      return close();
    }
    if (!closing_since_) session_->on_bytes(ByteView(buffer).first(size));
    if (size < buffer.size()) break;  // probably all; if not, the socket is readable again at once
  }
  wait_readable();
}

void Connection::check_disconnect() {
  pollfd socket{socket_.native_handle(), POLLRDHUP, 0};
  if (closed_ || ::poll(&socket, 1, 0) <= 0) return;
  unless_no_memory([this] {
    session_->on_disconnect();
    close();
  });
}

void Connection::send(ByteView bytes) {
  if (closed_) return;
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  if (!flushing_) flush();
}

void Connection::flush() {
  flushing_ = false;
  while (!unsent_.empty() && !closed_) {
    asio::error_code error;
    const std::size_t size = socket_.write_some(asio::buffer(unsent_), error);
    if (would_block(error)) {
      flushing_ = true;
      socket_.async_wait(asio::ip::tcp::socket::wait_write,
                         [self = shared_from_this()](const asio::error_code& wait_error) {
                           if (!wait_error) self->unless_no_memory([&] { self->flush(); });
                         });
      return;
    }
    if (error) return unsent_.clear();  // the read side sees the broken connection and reports it
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(size));
  }
  shut_down_after_flush();
}

/// Closing a socket with unread bytes resets the connection, and the last frame could be lost. So shut down the sending
/// side only, and let the other end close.
void Connection::shut_down_after_flush() {
  if (!closing_since_ || closed_) return;
  asio::error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
}

void Connection::finished(Outcome outcome, const std::string& detail) {
  const auto self = shared_from_this();
  owner_.on_finished(*this, outcome, detail);
  const bool sends_no_error = outcome == Outcome::kAgreed || outcome == Outcome::kDisconnected ||
                              outcome == Outcome::kPeerError || outcome == Outcome::kConnectFailed;
  if (sends_no_error) return close();
  closing_since_ = Clock::now();
  if (!flushing_) shut_down_after_flush();
}

void Connection::check_deadline(Clock::time_point oldest) {
  if (closed_) return;
  if (!closing_since_) return unless_no_memory([&] { session_->check_deadline(oldest); });
  if (*closing_since_ + kCloseTimeout < Clock::now()) close();
}

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  asio::error_code error;
  socket_.close(error);
  owner_.on_closed(*this);
}

}  // namespace polykem::cli::net
