// SPDX-License-Identifier: Apache-2.0
#include "broker/socket.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace polykem::broker {

namespace {

/// The listen queue: room for all workers of a large machine to connect at once, with those that will be refused.
constexpr int kBacklog = 4096;
/// How long a worker waits while the listen queue is full.
constexpr timeval kConnectTime{0, 500'000};
/// SCM_MAX_FD, the most descriptors that the kernel lets a message carry.
constexpr size_t kMaxAttached = 253;

bool address_of(const char* path, sockaddr_un& out) {
  out = {};
  out.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length == 0 || length >= sizeof out.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(out.sun_path, path, length);
  return true;
}

Fd stream_socket(int flags = SOCK_NONBLOCK) {
  return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

bool set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool connect_socket(int socket, const sockaddr_un& address) {
  int result = 0;
  do {
    result = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

bool is_trusted(int socket, const char* path) {
  Peer peer{};
  if (!peer_of(socket, peer)) return false;
  if (peer.uid == 0 || peer.uid == ::geteuid()) return true;
  struct stat folder {};
  return ::stat(folder_of(path).c_str(), &folder) == 0 && folder.st_uid == peer.uid;
}

/// Removes a socket that a dead process left at the path.
Status clear_path(const char* path, const sockaddr_un& address) {
  struct stat file {};
  if (::lstat(path, &file) != 0) return errno == ENOENT ? Status::kOk : Status::kArgument;
  if (!S_ISSOCK(file.st_mode)) {
    errno = EEXIST;
    return Status::kArgument;
  }
  const Fd probe = stream_socket();
  if (!probe) return Status::kArgument;
  if (connect_socket(probe.get(), address) || errno == EAGAIN) return Status::kBusy;
  return ::unlink(path) == 0 ? Status::kOk : Status::kArgument;
}

/// Keeps one of the descriptors that came with the message in `attached`, and closes the others.
void keep_one(msghdr& header, Fd& attached) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t many = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < many; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      attached.reset(fd);
    }
  }
}

}  // namespace

Listener::~Listener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status Listener::listen_at(const char* path, mode_t mode) {
  sockaddr_un address;
  if (!address_of(path, address)) return Status::kArgument;
  const std::string lock = std::string(path) + ".lock";
  lock_ = Fd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) return Status::kArgument;
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK ? Status::kBusy : Status::kArgument;
  if (const Status status = clear_path(path, address); status != Status::kOk) return status;
  socket_ = stream_socket();
  // An unbound socket's mode becomes its file's mode when it is bound, less the umask; chmod() below restores the rest.
  if (!socket_ || ::fchmod(socket_.get(), mode) != 0) return Status::kArgument;
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Status::kArgument;
  path_ = path;
  const bool listens = ::chmod(path, mode) == 0 && ::listen(socket_.get(), kBacklog) == 0;
  return listens ? Status::kOk : Status::kArgument;
}

Status Listener::adopt(int fd) {
  int domain = 0, type = 0, listens = 0;
  socklen_t size = sizeof(int);
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
      ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0) {
    return Status::kArgument;
  }
  if (domain != AF_UNIX || type != SOCK_STREAM || listens == 0) {
    errno = EINVAL;
    return Status::kArgument;
  }
  if (!set_nonblocking(fd) || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return Status::kArgument;
  socket_ = Fd(fd);
  return Status::kOk;
}

Fd connect_to(const char* path) {
  sockaddr_un address;
  if (!address_of(path, address)) return Fd();
  Fd socket = stream_socket(0);
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kConnectTime, sizeof kConnectTime) != 0 ||
      !connect_socket(socket.get(), address) || !set_nonblocking(socket.get())) {
    return Fd();
  }
  if (is_trusted(socket.get(), path)) return socket;
  errno = EPERM;
  return Fd();
}

bool peer_of(int socket, Peer& out) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return false;
  out = {credentials.pid, credentials.uid, {credentials.gid}};
  std::vector<gid_t> others(1024);
  size = static_cast<socklen_t>(others.size() * sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, others.data(), &size) == 0) {
    out.groups.insert(out.groups.end(), others.begin(), others.begin() + size / sizeof(gid_t));
  }
  return true;
}

bool send_message(int socket, const void* message, size_t bytes, int attached) {
  iovec part{const_cast<void*>(message), bytes};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (attached >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &attached, sizeof attached);
  }
  return ::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

ssize_t receive_message(int socket, void* message, size_t bytes, Fd& attached) {
  iovec part{message, bytes};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int[kMaxAttached]))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got > 0) keep_one(header, attached);
  return got;
}

void send_wake(int socket) {
  const char byte = 0;
  (void)::send(socket, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace polykem::broker
