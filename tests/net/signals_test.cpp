// SPDX-License-Identifier: Apache-2.0
// Tests signals that reach a thread other than the one that writes files, or the first process of a PID namespace.
#include "common/signals.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

namespace polykem::cli {
namespace {

void create(const std::string& path) {
  ::close(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

std::string new_folder() {
  std::string name = "/tmp/polykem-signals-XXXXXX";
  return ::mkdtemp(name.data()) == nullptr ? throw std::runtime_error("no folder") : name;
}

/// Files in a new folder: two that exist together or not at all, and one that a signal removes.
struct Files {
  ~Files() { std::filesystem::remove_all(folder); }

  const std::string folder = new_folder();
  const std::string first = folder + "/first", second = folder + "/second", temporary = folder + "/temporary";
};

/// Creates and removes the files for ever. Another thread receives the signals.
[[noreturn]] void work(const Files& files) {
  ::alarm(20);
  handle_signals();
  std::thread([] {
    while (true)
      ::pause();
  }).detach();
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGALRM);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (true) {
    {
      const DeferSignals both_or_none;
      create(files.first);
      create(files.second);
    }
    {
      const DeferSignals until_registered;
      create(files.temporary);
      remove_on_signal(files.temporary);
    }
    ::unlink(files.temporary.c_str());
    keep_on_signal(files.temporary);
    const DeferSignals both_or_none;
    ::unlink(files.first.c_str());
    ::unlink(files.second.c_str());
  }
}

TEST(Signals, OnAnyThreadEndTheProgramAndLeaveNoHalf) {
  for (int round = 0; round < 300; ++round) {
    const Files files;
    const pid_t child = ::fork();
    if (child == 0) work(files);
    while (!std::filesystem::exists(files.first) && !std::filesystem::exists(files.second))
      ::usleep(100);
    ::usleep(static_cast<useconds_t>(round * 7 % 500));
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(WTERMSIG(status), SIGTERM) << "the signal was lost, round " << round;
    ASSERT_EQ(std::filesystem::exists(files.first), std::filesystem::exists(files.second)) << "round " << round;
    ASSERT_FALSE(std::filesystem::exists(files.temporary)) << "round " << round;
  }
}

/// Runs `body` as the first process of a new PID namespace and returns its wait status; -1 if there can be none here. A
/// process that hangs is killed: it ignores SIGALRM.
template <class Body>
int status_as_first_process(Body&& body) {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return -1;
  const pid_t first = ::fork();
  if (first == 0) {
    body();
    ::_exit(0);
  }
  int status = -1;
  for (int tenths = 0; first > 0 && ::waitpid(first, &status, WNOHANG) == 0; ++tenths) {
    if (tenths == 50) ::kill(first, SIGKILL);
    ::usleep(100000);
  }
  return status;
}

TEST(Signals, EndTheFirstProcessOfANamespace) {
  constexpr int kNotHere = 77;
  for (const int signal : {SIGTERM, SIGQUIT}) {
    for (const bool deferred : {true, false}) {
      const Files files;
      const pid_t child = ::fork();
      if (child == 0) {
        const int status = status_as_first_process([&] {
          handle_signals();
          create(files.temporary);
          remove_on_signal(files.temporary);
          if (deferred) {
            const DeferSignals for_now;
            ::raise(signal);
          } else {
            ::raise(signal);
          }
          const DeferSignals never;
        });
        ::_exit(status == -1 ? kNotHere : WIFEXITED(status) ? WEXITSTATUS(status) : 1);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      ASSERT_TRUE(WIFEXITED(status));
      if (WEXITSTATUS(status) == kNotHere) GTEST_SKIP() << "this machine allows no PID namespace";
      EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
      EXPECT_FALSE(std::filesystem::exists(files.temporary));
    }
  }
}

}  // namespace
}  // namespace polykem::cli
