// SPDX-License-Identifier: Apache-2.0
// Tests threads, forks, and instances of the provider that are loaded and unloaded.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dirent.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "provider/support.hpp"

namespace {
bool is_child = false;
std::atomic<bool> no_entropy{false};
}  // namespace

/// Replaces the C library's function, also for the library.
extern "C" __attribute__((visibility("default"))) ssize_t getrandom(void* out, std::size_t bytes, unsigned flags) {
  if (!no_entropy) return syscall(SYS_getrandom, out, bytes, flags);
  errno = EIO;
  return -1;
}

/// A hook of LeakSanitizer: a child leaves its parent's state alone, which then looks lost.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
  return is_child ? 1 : 0;
}

namespace polykem::provider::test {
namespace {

bool round_trips(const Library& library, const char* name) {
  const KeyPtr key = generate(library, name);
  if (key == nullptr) return false;
  const auto sent = encapsulate(library, key.get());
  return sent && decapsulate(library, key.get(), sent->ciphertext) == sent->secret;
}

std::size_t threads_of_process() {
  std::size_t count = 0;
  DIR* folder = opendir("/proc/self/task");
  while (readdir(folder) != nullptr)
    ++count;
  closedir(folder);
  return count - 2;
}

TEST(Process, WithoutEntropyOperationsFailAndLaterWork) {
  const Library library;
  no_entropy = true;
  EXPECT_EQ(generate(library, "frodokem640shake"), nullptr);
  EXPECT_FALSE(errors().empty());
  no_entropy = false;
  EXPECT_TRUE(round_trips(library, "frodokem640shake")) << errors();
}

TEST(Process, LoadingStartsNothing) {
  const std::size_t before = threads_of_process();
  const Library library;
  EXPECT_EQ(threads_of_process(), before);
}

TEST(Process, Threads) {
  const Library library;
  const KeyPtr shared = generate(library, "mlkem768");
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto sent = encapsulate(library, shared.get());
        if (!sent || decapsulate(library, shared.get(), sent->ciphertext) != sent->secret) ++failed;
        if (!round_trips(library, "ntruhps2048509") || !round_trips(library, hybrid_name())) ++failed;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
}

void expect_child_works(const Library& library) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(round_trips(library, "mlkem768") && round_trips(library, "x25519_frodo640aes") ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Process, Forks) {
  const Library library;
  expect_child_works(library);  // before the first operation, as servers do
  EXPECT_TRUE(round_trips(library, "frodokem640shake"));
  expect_child_works(library);  // and after it
  EXPECT_TRUE(round_trips(library, "mlkem512"));
}

TEST(Process, ChildEndsOrderly) {
  const Library library;
  EXPECT_TRUE(round_trips(library, "mlkem768"));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    is_child = true;
    alarm(100);
    exit(round_trips(library, "mlkem768") ? 0 : 1);  // with all destructors
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Process, LoadsAgain) {
  for (int i = 0; i < 3; ++i) {
    const Library library;
    EXPECT_TRUE(round_trips(library, "mlkem512"));
  }
}

TEST(Process, DefaultContextAtExit) {
  // In the context that OpenSSL itself frees when the process ends.
  OSSL_PROVIDER_set_default_search_path(nullptr, POLYKEM_MODULES);
  const ConfigFile file("activate = 1");
  ASSERT_EQ(OSSL_LIB_CTX_load_config(nullptr, file.path()), 1) << errors();
  ASSERT_EQ(OSSL_PROVIDER_available(nullptr, "polykem"), 1);
  const ContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, "frodokem640aes", nullptr));
  EVP_PKEY* key = nullptr;
  EXPECT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_keygen(context.get(), &key), 1) << errors();
  EVP_PKEY_free(key);
}

/// A link or pipe that another user puts at the path of the statistics, in a folder that both may write, is neither
/// followed nor waited for.
TEST(Process, StatisticsTrustNoNeighbour) {
  const std::string path = testing::TempDir() + "polykem-statistics", mine = path + "." + std::to_string(getpid());
  const std::string fresh = mine + ".new", victim = path + ".victim";
  const auto text_of = [](const std::string& name) {
    std::ifstream file(name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto write = [&] {
    std::remove(mine.c_str());
    const Library library("statistics = " + path);
    EXPECT_TRUE(round_trips(library, "mlkem512"));
  };
  std::ofstream(victim) << "precious";
  ASSERT_EQ(symlink(victim.c_str(), fresh.c_str()), 0);
  write();
  EXPECT_EQ(text_of(victim), "precious");
  EXPECT_NE(text_of(mine).find("mlkem512"), std::string::npos);
  ASSERT_EQ(mkfifo(fresh.c_str(), 0600), 0);
  alarm(100);
  write();
  alarm(0);
  EXPECT_NE(text_of(mine).find("mlkem512"), std::string::npos);
  for (const std::string& name : {mine, fresh, victim})
    std::remove(name.c_str());
}

/// A child that ends without an operation starts neither a batcher nor a GPU's driver.
TEST(Process, AChildWithoutOperationsHasNoStatistics) {
  const std::string path = testing::TempDir() + "polykem-of-child";
  std::optional<Library> library(std::in_place, "statistics = " + path);
  EXPECT_TRUE(round_trips(*library, "mlkem512"));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    library.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(std::remove((path + "." + std::to_string(child)).c_str()), 0);
  library.reset();
  EXPECT_EQ(std::remove((path + "." + std::to_string(getpid())).c_str()), 0);
}

}  // namespace
}  // namespace polykem::provider::test
