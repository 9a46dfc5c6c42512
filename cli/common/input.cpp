// SPDX-License-Identifier: Apache-2.0
#include "common/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
/// The most bytes that are read from a pipe. Regular files have no limit.
constexpr std::uint64_t kMaxFromPipe = std::uint64_t{64} << 30;

std::string quoted(const std::string& path) {
  return path == "-" ? "standard input" : fmt::format("'{}'", path);
}

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& reason) {
  throw CliError(kExitIo, fmt::format("cannot read {}: {}", quoted(path), reason));
}

/// Opens `path` for reading and, if it is a regular file, sets its size.
int open_input(const std::string& path, std::uint64_t& size) {
  const int fd = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_unreadable(path, std::strerror(errno));
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  const char* objection = nullptr;
  if (!known) objection = std::strerror(errno);
  if (path == "-" && (::fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
    ::close(fd);
    throw_unreadable(path, "it is closed, or open for writing only");
  }
  if (known && S_ISDIR(info.st_mode)) objection = "it is a directory";
  // Refused: a device such as /dev/zero has no end. A terminal is allowed.
  const bool device = known && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode));
  if (device && ::isatty(fd) == 0) objection = "it is a device, not a file";
  if (objection != nullptr) {
    ::close(fd);
    throw_unreadable(path, objection);
  }
  size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
  return fd;
}

}  // namespace

InputFile::InputFile(const std::string& path)
    : path_(path), name_(quoted(path)), fd_(open_input(path, size_)), buffer_(kBufferBytes) {}

InputFile::InputFile(ByteView memory, std::string name)
    : name_(std::move(name)), size_(memory.size()), memory_(memory), buffer_(kBufferBytes) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::size_t InputFile::read_some(std::uint8_t* out, std::size_t size) {
  if (fd_ < 0) {
    const std::size_t n = std::min(size, memory_.size());
    std::copy_n(memory_.data(), n, out);
    memory_ = ByteView(memory_.data() + n, memory_.size() - n);
    return n;
  }
  for (;;) {
    const ssize_t n = ::read(fd_, out, size);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw_unreadable(path_, std::strerror(errno));
  }
}

bool InputFile::fill() {
  if (begin_ > 0) {
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t before = end_;
  while (!at_end_ && end_ < buffer_.size()) {
    const std::size_t n = read_some(buffer_.data() + end_, buffer_.size() - end_);
    at_end_ = n == 0;
    end_ += n;
  }
  return end_ > before;
}

void InputFile::take(std::size_t bytes) {
  begin_ += bytes;
  taken_ += bytes;
  if (size_ == 0 && taken_ > kMaxFromPipe) {
    throw CliError(kExitBadInput, fmt::format("{} delivers more than {} GiB", name_, kMaxFromPipe >> 30),
                   "write it to a file first");
  }
}

ByteView InputFile::peek() {
  if (buffered() < buffer_.size()) fill();
  return {buffer_.data() + begin_, buffered()};
}

std::size_t InputFile::read(std::uint8_t* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    if (buffered() == 0 && !fill()) break;
    const std::size_t n = std::min(size - done, buffered());
    std::copy_n(buffer_.data() + begin_, n, out + done);
    take(n);
    done += n;
  }
  return done;
}

bool InputFile::line(std::string_view& out) {
  std::size_t searched = 0;
  for (;;) {
    const auto* text = reinterpret_cast<const char*>(buffer_.data() + begin_);
    const void* found = std::memchr(text + searched, '\n', buffered() - searched);
    const std::size_t length =
        found == nullptr ? buffered() : static_cast<std::size_t>(static_cast<const char*>(found) - text);
    if (found == nullptr) {
      searched = buffered();
      if (fill()) continue;
      if (!at_end_)
        throw CliError(kExitBadInput, fmt::format("{}: a line is longer than {} bytes", name_, kBufferBytes));
      if (length == 0) return false;
    }
    out = std::string_view(reinterpret_cast<const char*>(buffer_.data() + begin_), length);
    take(length + (found == nullptr ? 0 : 1));
    return true;
  }
}

std::string read_text_maybe_gzip(const std::string& path, std::size_t limit) {
  std::uint64_t file_size = 0;
  const int fd = open_input(path, file_size);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzdopen(fd, "rb"), &gzclose_r);
  if (!file) {
    ::close(fd);
    throw std::bad_alloc();
  }
  std::string out;
  for (;;) {
    const std::size_t size = out.size();
    if (size > limit) {
      throw CliError(kExitBadInput, fmt::format("{} is larger than {} MiB", quoted(path), limit >> 20));
    }
    out.resize(size + kBufferBytes);
    errno = 0;
    const int n = gzread(file.get(), out.data() + size, kBufferBytes);
    out.resize(size + static_cast<std::size_t>(std::max(n, 0)));
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (code == Z_ERRNO) throw_unreadable(path, std::strerror(errno));
    if (code != Z_OK && code != Z_STREAM_END) {
      throw CliError(kExitBadInput, fmt::format("{} is a damaged or truncated gzip file ({})", quoted(path), reason));
    }
    if (n <= 0) return out;
  }
}

}  // namespace polykem::cli
