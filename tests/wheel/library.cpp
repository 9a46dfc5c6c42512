// SPDX-License-Identifier: Apache-2.0
// Calls functions that have newer versions in glibc, or exist only since 2.29. test_stubs.py links it for 2.28.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

/// Returns whether a wait of 50 ms ends, and not before.
bool waits() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto begin = Clock::now();
  const bool woken = condition.wait_for(lock, std::chrono::milliseconds(50), [] { return false; });
  return !woken && Clock::now() - begin >= std::chrono::milliseconds(50);
}

bool shares_with_a_thread() {
  const auto number = std::make_shared<int>(0);
  std::thread([copy = number] { *copy = 5; }).join();
  return *number == 5;
}

bool catches() {
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception& error) {
    return std::string(error.what()) == "caught";
  }
}

bool knows_files(const char* folder, const char* file) {
  struct stat about {};
  return stat(folder, &about) == 0 && S_ISDIR(about.st_mode) && lstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
         std::filesystem::file_size(file) == static_cast<std::uintmax_t>(about.st_size) &&
         stat("/nowhere", &about) != 0;
}

}  // namespace

/// Returns 0, or the number of the first check that failed.
extern "C" __attribute__((visibility("default"))) int polykem_cuda_module(double one, const char* folder,
                                                                          const char* file) {
  sigset_t none;
  sigemptyset(&none);
  const bool works[] = {waits(),
                        shares_with_a_thread(),
                        catches(),
                        knows_files(folder, file),
                        std::abs(std::exp(one) - 2.718281828) < 1e-9,
                        std::random_device()() != std::random_device()() + 1,
                        pthread_sigmask(SIG_BLOCK, &none, nullptr) == 0,
                        shm_unlink("/polykem has no such memory") == -1};
  for (int i = 0; i < 8; ++i)
    if (!works[i]) return i + 1;
  return 0;
}
