// SPDX-License-Identifier: Apache-2.0
#include "files/passphrase.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "common/exit_codes.hpp"
#include "common/input.hpp"
#include "common/signals.hpp"
#include "common/streams.hpp"

namespace polykem::cli {
namespace {

/// The longest passphrase, as in OpenSSL's programs.
constexpr std::size_t kMaxPassphraseBytes = 1024;

std::string descriptor_name(const std::string& fd) {
  return fmt::format("descriptor {}", fd);
}

[[noreturn]] void throw_long_passphrase(const std::string& name) {
  throw CliError(kExitBadInput, fmt::format("{}: the passphrase is longer than {} bytes", name, kMaxPassphraseBytes));
}

[[noreturn]] void throw_no_passphrase(const std::string& name) {
  throw CliError(kExitBadInput, fmt::format("{}: holds no passphrase", name));
}

/// Reads the next line, without its end, byte by byte, so that the rest stays in the descriptor.
SecretBytes next_line(int fd, const std::string& name) {
  SecretBytes out;
  out.reserve(kMaxPassphraseBytes);
  for (bool anything = false;; anything = true) {
    std::uint8_t byte = 0;
    const ssize_t got = ::read(fd, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw CliError(kExitIo, fmt::format("cannot read {}: {}", name, std::strerror(errno)));
    if (got == 0 && !anything) throw_no_passphrase(name);
    if (got == 0 || byte == '\n') return out;
    if (out.size() == kMaxPassphraseBytes) throw_long_passphrase(name);
    out.push_back(byte);
  }
}

SecretBytes first_line(const std::string& path) {
  InputFile file(path);
  std::string_view line;
  if (!file.line(line)) throw_no_passphrase(file.name());
  if (line.size() > kMaxPassphraseBytes) throw_long_passphrase(file.name());
  return {line.begin(), line.end()};
}

/// The controlling terminal with echo turned off.
class SilentTerminal {
 public:
  SilentTerminal() : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (fd_ < 0) return;
    if (::tcgetattr(fd_, &before_) != 0) {
      close();
      return;
    }
    struct termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent.c_lflag |= static_cast<tcflag_t>(ECHONL);
    silent.c_cc[VSUSP] = _POSIX_VDISABLE;  // if the program were stopped, the shell would have no echo
    restore_on_signal(fd_, before_);
    ::tcsetattr(fd_, TCSAFLUSH, &silent);
  }
  ~SilentTerminal() {
    if (fd_ < 0) return;
    ::tcsetattr(fd_, TCSAFLUSH, &before_);
    keep_terminal();
    close();
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;

  bool is_there() const { return fd_ >= 0; }
  SecretBytes ask(std::string_view question) const {
    while (!question.empty()) {
      const ssize_t n = ::write(fd_, question.data(), question.size());
      if (n < 0 && errno != EINTR) break;  // ignored: only the answer matters
      question.remove_prefix(n < 0 ? 0 : static_cast<std::size_t>(n));
    }
    return next_line(fd_, "the terminal");
  }

 private:
  void close() {
    ::close(fd_);
    fd_ = -1;
  }

  int fd_;
  struct termios before_ {};
};

}  // namespace

void add_passphrase_options(CLI::App& app, PassphraseOptions& options) {
  CLI::Option* file =
      app.add_option("--passphrase-file", options.file,
                     "The first line of FILE is the passphrase of encrypted keys (default: ask at the terminal)");
  CLI::Option* fd = app.add_option("--passphrase-fd", options.fd, "The next line of descriptor N is the passphrase");
  file->type_name("FILE")->excludes(fd);
  fd->type_name("N")->check(CLI::Range(0, 1 << 20));
}

bool passphrase_from_stdin(const PassphraseOptions& options) {
  return is_standard_input(options.file) || (!options.fd.empty() && std::stoi(options.fd) == STDIN_FILENO);
}

Passphrase::Passphrase(const PassphraseOptions& options) : known_(!options.file.empty() || !options.fd.empty()) {
  if (!options.file.empty()) bytes_ = first_line(options.file);
  if (!options.fd.empty()) bytes_ = next_line(std::stoi(options.fd), descriptor_name(options.fd));
}

ByteView Passphrase::get(const std::string& key) {
  if (known_) return bytes_;
  const SilentTerminal terminal;
  if (!terminal.is_there()) {
    throw CliError(kExitUsage, fmt::format("{}: the private key is encrypted, and there is no terminal to ask at", key),
                   "give its passphrase by --passphrase-file FILE or --passphrase-fd N");
  }
  bytes_ = terminal.ask(fmt::format("Passphrase for {}: ", without_controls(key)));
  known_ = true;
  return bytes_;
}

}  // namespace polykem::cli
