// SPDX-License-Identifier: Apache-2.0
// A signal that reaches another thread than the one that writes files.
#include "common/signals.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
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

/** In a new folder: two files that exist together or not at all, and one that a signal removes. */
struct Files {
  ~Files() { std::filesystem::remove_all(folder); }

  const std::string folder = new_folder();
  const std::string first = folder + "/first", second = folder + "/second", temporary = folder + "/temporary";
};

/** Creates and removes the files without end. A thread of its own takes the signals. */
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

}  // namespace
}  // namespace polykem::cli
