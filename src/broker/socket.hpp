// SPDX-License-Identifier: Apache-2.0
// Unix stream sockets: where the daemon listens, who is at the other end, and messages that carry a descriptor.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "broker/fd.hpp"
#include "core/status.hpp"

namespace polykem::broker {

/// A socket that listens at a path. A file "<path>.lock" says that a process uses the path, so that what a dead one has
/// left behind can be told from a living one's.
class Listener {
 public:
  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Status::kBusy: another process listens there. Status::kArgument: not possible there, errno says why.
  Status listen_at(const char* path, mode_t mode);
  /// Takes a socket that listens already; Status::kArgument if it does not or is of another kind.
  Status adopt(int fd);

  int fd() const { return socket_.get(); }

 private:
  Fd socket_, lock_;
  std::string path_;  ///< removed in the end; empty: not ours
};

/// Connects; waits half a second at most where many do so at once. An empty Fd with errno: EAGAIN after that time,
/// EPERM if whoever listens there is neither root, nor this user, nor the owner of the folder: secret keys would go to
/// them.
Fd connect_to(const char* path);

/// As the kernel saw the process when it connected or listened.
struct Peer {
  pid_t pid;
  uid_t uid;
  std::vector<gid_t> groups;
};
bool peer_of(int socket, Peer& out);

/// Sends a message whole or not at all; `attached` is a descriptor or -1. Never waits.
bool send_message(int socket, const void* message, size_t bytes, int attached = -1);
/// Receives at most `bytes` bytes and a descriptor, if one comes along; further ones are closed. The result is
/// recv()'s; never waits.
ssize_t receive_message(int socket, void* message, size_t bytes, Fd& attached);
/// Wakes the other side. If there is no room for another byte, it has unread ones and is awake.
void send_wake(int socket);

}  // namespace polykem::broker
