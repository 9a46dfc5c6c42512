// SPDX-License-Identifier: Apache-2.0
#include "common/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kReadStep = std::size_t{1} << 16;

/** A file descriptor that closes itself. */
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  /** Closes now; false if the system reports a late write error. */
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

[[noreturn]] void throw_io(const char* action, const std::string& path) {
  throw CliError(kExitIo, fmt::format("cannot {} '{}': {}", action, path, std::strerror(errno)));
}

[[noreturn]] void throw_too_large(const std::string& path, std::size_t limit) {
  throw CliError(kExitBadInput, fmt::format("'{}' is larger than {} MiB", path, limit >> 20));
}

void write_all(int fd, ByteView bytes, const std::string& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_io("write", path);
    done += static_cast<std::size_t>(n);
  }
}

bool is_special_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/** The file behind symbolic links, so that a rename replaces the file and not the link, and one file has one name. */
std::string behind_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : real.string();
}

[[noreturn]] void throw_exists(const std::string& name) {
  throw CliError(kExitUsage, fmt::format("'{}' exists already", name), "use --force to replace it, or another name");
}

/** name: the path as the user gave it, for messages. */
void check_place(const std::string& path, const std::string& name, bool force) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) throw_io("write", name);
    return;
  }
  if (S_ISDIR(info.st_mode)) throw CliError(kExitIo, fmt::format("cannot write '{}': it is a directory", name));
  if (S_ISREG(info.st_mode) && !force) throw_exists(name);
}

}  // namespace

SecretBytes read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_io("read", path);
  SecretBytes out;
  std::size_t size = 0;
  for (;;) {
    if (size > limit) throw_too_large(path, limit);
    if (out.size() < size + kReadStep) out.resize(std::max(out.size() * 2, size + kReadStep));
    const ssize_t n = ::read(file.get(), out.data() + size, kReadStep);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_io("read", path);
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  out.resize(size);
  return out;
}

std::string read_text_maybe_gzip(const std::string& path, std::size_t limit) {
  const int fd = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_io("read", path);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzdopen(fd, "rb"), &gzclose_r);
  if (!file) throw std::bad_alloc();
  std::string out;
  for (;;) {
    const std::size_t size = out.size();
    if (size > limit) throw_too_large(path, limit);
    out.resize(size + kReadStep);
    errno = 0;
    const int n = gzread(file.get(), out.data() + size, kReadStep);
    out.resize(size + static_cast<std::size_t>(std::max(n, 0)));
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (code == Z_ERRNO) throw_io("read", path);
    if (code != Z_OK && code != Z_STREAM_END) {
      throw CliError(kExitBadInput, fmt::format("'{}' is a damaged or truncated gzip file ({})", path, reason));
    }
    if (n <= 0) return out;
  }
}

OutputFiles::~OutputFiles() {
  for (const Output& output : outputs_) {
    if (!output.temporary.empty()) ::unlink(output.temporary.c_str());
    if (output.published && !done_) ::unlink(output.path.c_str());
  }
}

void OutputFiles::add(const std::string& path, ByteView bytes, FileMode mode) {
  Output output;
  output.name = path;
  output.path = path == "-" ? path : behind_links(path);
  output.bytes = bytes;
  output.mode = mode;
  output.direct = path == "-" || is_special_file(path);
  outputs_.push_back(std::move(output));
}

void OutputFiles::check(bool force) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.direct) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (outputs_[j].path == output.path) {
        throw CliError(kExitUsage, fmt::format("'{}' is named for two outputs", output.name), "give each its own file");
      }
    }
    check_place(output.path, output.name, force);
  }
}

void OutputFiles::commit(bool force) {
  check(force);
  for (Output& output : outputs_) {
    if (!output.direct) write_temporary(output);
  }
  for (const Output& output : outputs_) {
    if (!output.direct) continue;
    if (output.path == "-") {
      std::fflush(stdout);
      write_all(STDOUT_FILENO, output.bytes, "standard output");
      continue;
    }
    const Descriptor file(::open(output.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) throw_io("write", output.name);
    write_all(file.get(), output.bytes, output.name);
  }
  for (Output& output : outputs_) {
    if (!output.direct) publish(output, force);
  }
  done_ = true;
}

void OutputFiles::write_temporary(Output& output) {
  const std::string name = fmt::format("{}.{}.tmp", output.path, ::getpid());
  const mode_t mode = output.mode == FileMode::kSecret ? S_IRUSR | S_IWUSR : 0666;
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (file.get() < 0) throw_io("write", output.name);
  output.temporary = name;
  write_all(file.get(), output.bytes, output.name);
  if (::fsync(file.get()) != 0 || !file.close()) throw_io("write", output.name);
}

void OutputFiles::publish(Output& output, bool force) {
  // link() fails where the name has appeared meanwhile; file systems without hard links get the plain rename.
  const bool linked = !force && ::link(output.temporary.c_str(), output.path.c_str()) == 0;
  if (!force && !linked && errno == EEXIST) throw_exists(output.name);
  if (linked) {
    ::unlink(output.temporary.c_str());
  } else if (::rename(output.temporary.c_str(), output.path.c_str()) != 0) {
    throw_io("write", output.name);
  }
  output.temporary.clear();
  output.published = !force;
}

}  // namespace polykem::cli
