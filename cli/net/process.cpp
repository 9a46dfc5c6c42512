// SPDX-License-Identifier: Apache-2.0
#include "net/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <chrono>
#include <cstring>
#include <istream>
#include <thread>
#include <utility>

#include <asio/read_until.hpp>

#include "common/exit_codes.hpp"

namespace polykem::cli::net {
namespace {

constexpr const char* kSelf = "/proc/self/exe";
constexpr auto kGracePeriod = std::chrono::seconds(2);

[[noreturn]] void throw_spawn_error(const char* what) {
  throw CliError(kExitResources, fmt::format("cannot start a process: {}: {}", what, std::strerror(errno)),
                 "use --transport inproc, or free some processes or file descriptors");
}

/// Runs in the child between fork and exec, where only async-signal-safe calls are allowed.
[[noreturn]] void exec_self(char* const* argv, int pipe_fd, pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  if (getppid() != parent) _exit(kExitResources);
  // A terminal sends these signals to the whole process group. The parent handles them and asks its children to end.
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  fcntl(pipe_fd, F_SETFD, 0);
  const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_fd >= 0) dup2(null_fd, STDIN_FILENO);
  execv(kSelf, argv);
  _exit(kExitResources);
}

int exit_code_of_wait(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Child::Child(asio::io_context& loop, const std::vector<std::string>& arguments) : pipe_(loop) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) throw_spawn_error("pipe");
  pipe_.assign(fds[0]);
  std::vector<std::string> command = {"polykem"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {"--pipe", std::to_string(fds[1])});
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& argument : command)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) exec_self(argv.data(), fds[1], parent);
  const int fork_error = errno;
  close(fds[1]);
  errno = fork_error;
  if (pid_ < 0) throw_spawn_error("fork");
}

Child::~Child() {
  if (!running()) return;
  stop();
  const auto deadline = std::chrono::steady_clock::now() + kGracePeriod;
  while (std::chrono::steady_clock::now() < deadline) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(pid_, SIGKILL);
  reap();
}

void Child::stop() {
  if (running() && !std::exchange(stopping_, true)) kill(pid_, SIGTERM);
}

int Child::reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return exit_code_of_wait(status);
}

void Child::read_line() {
  asio::async_read_until(pipe_, buffer_, '\n', [this](const asio::error_code& error, std::size_t /*size*/) {
    if (error == asio::error::operation_aborted) return;
    if (error) {  // the pipe closes when the child ends
      const int code = reap();
      if (on_exit_) on_exit_(code);
      return;
    }
    std::istream stream(&buffer_);
    std::string line;
    std::getline(stream, line);
    const Json message = Json::parse(line, nullptr, false);
    if (!message.is_discarded() && on_message_) on_message_(message);
    read_line();
  });
}

void write_message(int fd, const Json& message) {
  const std::string line = message.dump() + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t size = write(fd, line.data() + done, line.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    done += static_cast<std::size_t>(size);
  }
}

}  // namespace polykem::cli::net
