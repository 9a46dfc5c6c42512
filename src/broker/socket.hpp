// SPDX-License-Identifier: Apache-2.0
// Unix stream sockets: listening, connecting, the peer's identity, and messages that carry a descriptor.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "broker/fd.hpp"
#include "core/status.hpp"

namespace polykem::broker {

/// A socket that listens at a path. A lock on the file "<path>.lock" tells a socket in use from one that a dead process
/// left behind.
class Listener {
 public:
  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Status::kBusy: another process listens there. Status::kArgument: it cannot listen there; errno says why.
  Status listen_at(const char* path, mode_t mode);
  /// Takes over a listening socket; Status::kArgument if it does not listen or is of another kind.
  Status adopt(int fd);

  int fd() const { return socket_.get(); }

 private:
  Fd socket_, lock_;
  std::string path_;  ///< of the file that the destructor removes; empty: none
};

/// Connects; waits at most half a second while the listen queue is full. On failure returns an empty Fd and sets errno:
/// EAGAIN after that time; EPERM if the listening process belongs to neither root, nor this user, nor the owner of the
/// folder, because it would receive secret keys.
Fd connect_to(const char* path);

/// The process at the other end, as the kernel saw it when it connected or began to listen.
struct Peer {
  pid_t pid;
  uid_t uid;
  std::vector<gid_t> groups;
};
bool peer_of(int socket, Peer& out);

/// Sends the whole message or nothing, without blocking. attached: a descriptor to pass on, or -1.
bool send_message(int socket, const void* message, size_t bytes, int attached = -1);
/// Receives at most `bytes` bytes, and a descriptor if one was attached; further ones are closed. Returns what recv()
/// does, without blocking.
ssize_t receive_message(int socket, void* message, size_t bytes, Fd& attached);
/// Wakes the other side. If the buffer is full, the other side has unread bytes and is awake anyway.
void send_wake(int socket);

}  // namespace polykem::broker
