// SPDX-License-Identifier: Apache-2.0
#include "common/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "common/exit_codes.hpp"
#include "common/signals.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"

namespace polykem::cli {
namespace {

constexpr int kMaxNames = 100;

[[noreturn]] void throw_unwritable(const std::string& name) {
  const std::string shown = name == "-" ? "to standard output" : fmt::format("'{}'", name);
  throw CliError(kExitIo, fmt::format("cannot write {}: {}", shown, std::strerror(errno)));
}

[[noreturn]] void throw_exists(const std::string& name) {
  throw CliError(kExitUsage, fmt::format("'{}' exists already", name), "use --force to replace it, or another name");
}

/// Resolves symbolic links, so that a rename replaces the file and not the link, and each file has one name.
std::string resolve_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : real.string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// stream: the descriptor of "-".
ResolvedPath resolve_path(const std::string& path, int stream) {
  const bool standard = stream == STDIN_FILENO ? is_standard_input(path) : is_standard_output(path);
  ResolvedPath target{path, standard ? "-" : resolve_links(path), std::nullopt, standard};
  struct stat info {};
  const int failed = standard ? ::fstat(stream, &info) : ::stat(path.c_str(), &info);
  if (failed != 0) return target;
  if (S_ISREG(info.st_mode)) target.file = {info.st_dev, info.st_ino};
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) target.direct = true;
  return target;
}

bool same_file(const ResolvedPath& a, const ResolvedPath& b) {
  if (a.file && b.file) return *a.file == *b.file;
  return !a.direct && !b.direct && a.path == b.path;
}

std::string shown(const ResolvedPath& target, const char* stream) {
  return target.name == "-" ? stream : fmt::format("'{}'", target.name);
}

void check_output_path(const ResolvedPath& target, bool force) {
  const char* closed = closed_stream(target.name);
  if (closed != nullptr) {
    throw CliError(kExitIo, fmt::format("cannot write to {}: {}", shown(target, "standard output"), closed));
  }
  if (target.direct) return;
  struct stat info {};
  if (::stat(target.path.c_str(), &info) != 0) {
    if (errno != ENOENT) throw_unwritable(target.name);
    return;
  }
  if (S_ISDIR(info.st_mode)) throw CliError(kExitIo, fmt::format("cannot write '{}': it is a directory", target.name));
  if (S_ISREG(info.st_mode) && !force) throw_exists(target.name);
}

/// False if it fails, with errno.
bool write_all(int fd, ByteView bytes, std::uint64_t& written) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<std::size_t>(n);
    written += static_cast<std::uint64_t>(n);
  }
  return true;
}

constexpr const char* kMakeRoom = "make room, or write to another file system";

/// The free bytes on the file system of an open file that the user may write; nullopt if unknown.
std::optional<std::uint64_t> free_space(int fd) {
  struct statvfs info {};
  if (::fstatvfs(fd, &info) != 0 || info.f_blocks == 0) return std::nullopt;
  return std::uint64_t{info.f_bavail} * (info.f_frsize != 0 ? info.f_frsize : info.f_bsize);
}

/// Creates a file with an unused name in the folder of `path` by attempt(name), which returns 0 or sets errno. Returns
/// the name.
template <class Attempt>
std::string create_beside(const std::string& path, const std::string& shown_name, Attempt attempt) {
  for (int i = 0; i < kMaxNames; ++i) {
    std::string name = fmt::format("{}.{}-{}.tmp", path, ::getpid(), i);
    if (attempt(name) == 0) return name;
    if (errno != EEXIST) break;
  }
  throw_unwritable(shown_name);
}

}  // namespace

void check_output_path(const std::string& path, bool force) {
  check_output_path(resolve_path(path, STDOUT_FILENO), force);
}

OutputFiles::~OutputFiles() {
  for (Output& output : outputs_) {
    if (output.fd > STDERR_FILENO) ::close(output.fd);
    remove_temporary(output);
  }
}

void OutputFiles::remove_temporary(Output& output) {
  if (output.temporary.empty()) return;
  ::unlink(output.temporary.c_str());
  keep_on_signal(output.temporary);
  output.temporary.clear();
}

void OutputFiles::add_input(const std::string& path) {
  inputs_.push_back(resolve_path(path, STDIN_FILENO));
}

std::size_t OutputFiles::add(const std::string& path, FileMode mode) {
  Output output;
  output.target = resolve_path(path, STDOUT_FILENO);
  output.mode = mode;
  outputs_.push_back(std::move(output));
  return outputs_.size() - 1;
}

void OutputFiles::check() const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const ResolvedPath& target = outputs_[i].target;
    for (const ResolvedPath& input : inputs_) {
      if (!same_file(target, input)) continue;
      throw CliError(kExitUsage,
                     fmt::format("{} would overwrite {}, which is read", shown(target, "standard output"),
                                 shown(input, "standard input")),
                     "give each output a file of its own");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_file(target, outputs_[j].target)) continue;
      throw CliError(kExitUsage, fmt::format("{} is named for two outputs", shown(target, "standard output")),
                     "give each output a file of its own");
    }
    check_output_path(target, force_);
  }
}

void OutputFiles::open() {
  check();
  handle_signals();
  for (Output& output : outputs_)
    create(output);
}

void OutputFiles::create(Output& output) {
  const ResolvedPath& target = output.target;
  const mode_t mode = output.mode == FileMode::kSecret ? S_IRUSR | S_IWUSR : 0666;
  if (target.direct) {
    output.fd = target.path == "-" ? STDOUT_FILENO : ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC);
    if (output.fd < 0) throw_unwritable(target.name);
    return;
  }
  // An unnamed file gets its name through /proc.
  if (::access("/proc/self/fd", X_OK) == 0) {
    output.fd = ::open(folder_of(target.path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    if (output.fd >= 0) return;
  }
  const DeferSignals until_registered;
  output.temporary = create_beside(target.path, target.name, [&](const std::string& name) {
    output.fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    return output.fd < 0 ? -1 : 0;
  });
  remove_on_signal(output.temporary);
}

void OutputFiles::check_room() const {
  std::map<dev_t, std::uint64_t> needed;
  const auto device_of = [](const Output& output) {
    struct stat info {};
    const bool counts = !output.target.direct && ::fstat(output.fd, &info) == 0;
    return counts ? std::optional(info.st_dev) : std::nullopt;
  };
  for (const Output& output : outputs_) {
    if (const auto device = device_of(output)) needed[*device] += output.expected;
  }
  for (const Output& output : outputs_) {
    const auto device = device_of(output);
    const std::optional<std::uint64_t> room = device ? free_space(output.fd) : std::nullopt;
    if (!room || needed[*device] <= *room) continue;
    throw CliError(kExitIo,
                   fmt::format("cannot write '{}': {} are needed, and its file system has {} free", output.target.name,
                               data_size(needed[*device]), data_size(*room)),
                   kMakeRoom);
  }
}

void OutputFiles::throw_failed(const Output& output) const {
  const int reason = errno;
  const std::optional<std::uint64_t> room = output.target.direct ? std::nullopt : free_space(output.fd);
  errno = reason;
  if ((reason != ENOSPC && reason != EDQUOT) || !room) throw_unwritable(output.target.name);
  std::uint64_t written = 0, expected = 0;
  for (const Output& each : outputs_) {
    written += each.target.direct ? 0 : each.written;
    expected += each.target.direct ? 0 : each.expected;
  }
  const std::string needed = expected > 0 ? fmt::format("{} are needed, ", data_size(expected)) : "";
  throw CliError(kExitIo,
                 fmt::format("cannot write '{}': {}: {}{} were written, and its file system has {} free",
                             output.target.name, std::strerror(reason), needed, data_size(written), data_size(*room)),
                 kMakeRoom);
}

void OutputFiles::write(std::size_t number, ByteView bytes) {
  Output& output = outputs_[number];
  if (output.fd == STDOUT_FILENO) flush_output();
  if (output.target.direct) set_output_state(OutputState::kPartial);
  if (!write_all(output.fd, bytes, output.written)) throw_failed(output);
}

void OutputFiles::commit() {
  for (const Output& output : outputs_) {
    if (!output.target.direct && ::fsync(output.fd) != 0) throw_failed(output);
  }
  const DeferSignals until_all_or_none;
  try {
    for (Output& output : outputs_) {
      if (!output.target.direct) publish(output);
    }
    sync_folders();
  } catch (...) {
    for (Output& output : outputs_)
      undo(output);
    throw;
  }
  for (Output& output : outputs_)
    remove_temporary(output);
  set_output_state(OutputState::kComplete);
}

void OutputFiles::publish(Output& output) {
  const std::string& path = output.target.path;
  const bool named = !output.temporary.empty();
  const std::string source = named ? output.temporary : fmt::format("/proc/self/fd/{}", output.fd);
  if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    output.state = State::kNew;
    return;
  }
  if (errno == EEXIST && !force_) throw_exists(output.target.name);
  if (errno != EEXIST && !named) throw_unwritable(output.target.name);
  if (!named) {
    output.temporary = create_beside(path, output.target.name, [&](const std::string& name) {
      return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
    });
  }
  replace(output);
}

void OutputFiles::replace(Output& output) {
  const char* path = output.target.path.c_str();
  const char* temporary = output.temporary.c_str();
  if (force_ && ::renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
    output.state = State::kExchanged;
    return;
  }
  // Here the file system has no hard links, or cannot exchange two files.
  bool renamed = !force_ && ::renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0;
  if (!renamed && !force_ && errno == EEXIST) throw_exists(output.target.name);
  renamed = renamed || ::rename(temporary, path) == 0;
  if (!renamed) throw_unwritable(output.target.name);
  output.state = force_ ? State::kReplaced : State::kNew;
  keep_on_signal(output.temporary);
  output.temporary.clear();
}

void OutputFiles::undo(Output& output) {
  const char* path = output.target.path.c_str();
  if (output.state == State::kNew) ::unlink(path);
  if (output.state == State::kExchanged)
    ::renameat2(AT_FDCWD, output.temporary.c_str(), AT_FDCWD, path, RENAME_EXCHANGE);
  output.state = State::kHidden;
  remove_temporary(output);
}

void OutputFiles::sync_folders() const {
  std::set<std::string> folders;
  for (const Output& output : outputs_) {
    if (!output.target.direct) folders.insert(folder_of(output.target.path));
  }
  for (const std::string& folder : folders) {
    // A folder may be writable but not readable; then the system decides when its entries reach the disk.
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) continue;
    const bool failed = ::fsync(fd) != 0 && errno != EINVAL && errno != EROFS;
    const int reason = errno;
    ::close(fd);
    errno = reason;
    if (failed) throw_unwritable(folder);
  }
}

}  // namespace polykem::cli
