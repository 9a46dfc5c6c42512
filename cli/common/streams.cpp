// SPDX-License-Identifier: Apache-2.0
#include "common/streams.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kNothing = "/dev/null";

std::string cannot_write(int reason) {
  return fmt::format("cannot write to standard output: {}", std::strerror(reason));
}

/// Discards text that could not be written, because exit() would try again.
void forget_output() {
  __fpurge(stdout);
  std::clearerr(stdout);
}

/// The standard stream that `path` names, or -1.
int stream_named(const std::string& path) noexcept {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::size_t size = std::strlen(folder);
    if (path.compare(0, size, folder) != 0 || path.size() != size + 1) continue;
    const int number = path[size] - '0';
    if (number >= STDIN_FILENO && number <= STDERR_FILENO) return number;
  }
  return -1;
}

/// True if `path` is another name of a standard stream, or of the pipe that the stream is.
bool is_stream(const std::string& path, int stream) noexcept {
  if (stream_named(path) == stream) return true;
  struct stat named {
  }, standard{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(stream, &standard) == 0 &&
         (S_ISFIFO(named.st_mode) || S_ISSOCK(named.st_mode)) && named.st_dev == standard.st_dev &&
         named.st_ino == standard.st_ino;
}

}  // namespace

bool is_standard_input(const std::string& path) noexcept {
  return path == "-" || is_stream(path, STDIN_FILENO);
}

bool is_standard_output(const std::string& path) noexcept {
  return path == "-" || is_stream(path, STDOUT_FILENO);
}

void open_standard_streams() noexcept {
  constexpr std::array<int, 3> kWrongMode = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int stream = 0; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this one.
    if (::open(kNothing, kWrongMode[static_cast<std::size_t>(stream)]) != stream) std::_Exit(kExitIo);
  }
}

const char* closed_stream(const std::string& path) noexcept {
  const int stream = stream_named(path);
  if (stream < 0) return nullptr;
  const int flags = ::fcntl(stream, F_GETFL);
  return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? "it is closed, or open for reading only" : nullptr;
}

void print_text(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  const int reason = errno;
  forget_output();
  throw CliError(kExitIo, cannot_write(reason));
}

std::string lost_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  const int reason = errno == 0 ? EIO : errno;
  forget_output();
  return cannot_write(reason);
}

void flush_output() {
  const std::string lost = lost_output();
  if (!lost.empty()) throw CliError(kExitIo, lost);
}

void print_error_text(const char* text, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace polykem::cli
