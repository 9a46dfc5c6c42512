// SPDX-License-Identifier: Apache-2.0
#include "daemon/systemd.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr int kFirstInherited = 3;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int inherited_socket() {
  const std::string pid = environment("LISTEN_PID"), many = environment("LISTEN_FDS");
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"})
    ::unsetenv(name);
  if (many.empty() || pid != std::to_string(::getpid())) return -1;
  if (many == "1") return kFirstInherited;
  throw CliError(kExitUsage, fmt::format("systemd passed {} sockets, expected one", printable(many)),
                 "keep one ListenStream= in polykemd.socket");
}

bool send_datagram(const std::string& path, const std::string& text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const ssize_t sent =
      ::sendto(socket, text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
  ::close(socket);
  return sent == static_cast<ssize_t>(text.size());
}

void notify_manager(const std::string& state) {
  send_datagram(environment("NOTIFY_SOCKET"), state);
}

std::uint64_t watchdog_us() {
  const std::string interval = environment("WATCHDOG_USEC"), pid = environment("WATCHDOG_PID");
  if (!pid.empty() && pid != std::to_string(::getpid())) return 0;
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(interval.data(), interval.data() + interval.size(), value);
  return problem == std::errc() && end == interval.data() + interval.size() ? value : 0;
}

bool logs_to_journal() {
  struct stat file {};
  if (::fstat(STDERR_FILENO, &file) != 0) return false;
  return environment("JOURNAL_STREAM") == fmt::format("{}:{}", file.st_dev, file.st_ino);
}

}  // namespace polykem::cli
