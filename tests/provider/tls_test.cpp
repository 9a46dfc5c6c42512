// SPDX-License-Identifier: Apache-2.0
// Tests handshakes in memory with every group that the provider offers, also in ASYNC jobs on a slow device.
#include <dlfcn.h>
#include <openssl/async.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "provider/slow_device.hpp"
#include "provider/support.hpp"
#include "provider/tls_pair.hpp"

extern "C" {
void __lsan_disable() __attribute__((weak));
void __lsan_enable() __attribute__((weak));
}

namespace {

/// The number of private keys that were generated and not freed.
std::set<const EVP_PKEY*>& live_keys() {
  static std::set<const EVP_PKEY*> keys;
  return keys;
}

}  // namespace

/// These replace libcrypto's functions, also for the provider.
extern "C" [[gnu::visibility("default")]] int EVP_PKEY_keygen(EVP_PKEY_CTX* context, EVP_PKEY** key) {
  static const auto real = reinterpret_cast<decltype(&EVP_PKEY_keygen)>(dlsym(RTLD_NEXT, "EVP_PKEY_keygen"));
  const int result = real(context, key);
  if (result == 1) live_keys().insert(*key);
  return result;
}
extern "C" [[gnu::visibility("default")]] void EVP_PKEY_free(EVP_PKEY* key) {
  static const auto real = reinterpret_cast<decltype(&EVP_PKEY_free)>(dlsym(RTLD_NEXT, "EVP_PKEY_free"));
  live_keys().erase(key);
  real(key);
}

namespace polykem::provider::test {
namespace {

/// Returns the groups that the provider offers, with their code points.
std::vector<std::pair<std::string, unsigned>> groups_of(OSSL_PROVIDER* provider) {
  std::vector<std::pair<std::string, unsigned>> out;
  OSSL_PROVIDER_get_capabilities(
      provider, "TLS-GROUP",
      [](const OSSL_PARAM params[], void* list) {
        const char* name = nullptr;
        unsigned id = 0;
        OSSL_PARAM_get_utf8_string_ptr(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_NAME), &name);
        OSSL_PARAM_get_uint(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ID), &id);
        static_cast<std::vector<std::pair<std::string, unsigned>>*>(list)->emplace_back(name, id);
        return 1;
      },
      &out);
  return out;
}

class Handshake : public testing::TestWithParam<std::pair<std::string, unsigned>> {};

TEST_P(Handshake, InMemory) {
  const auto& [name, id] = GetParam();
  const Library library;
  Pair pair(library.get(), name.c_str(), name.c_str());
  ASSERT_TRUE(pair.handshake()) << errors();
  EXPECT_EQ(static_cast<unsigned>(SSL_get_negotiated_group(pair.client.get())) & 0xFFFFU, id);
  EXPECT_EQ(SSL_version(pair.client.get()), TLS1_3_VERSION);
}

TEST_P(Handshake, InJobs) {
  const auto& [name, id] = GetParam();
  const Library library;
  polykem_slow_device_hold();
  {
    Pair pair(library.get(), name.c_str(), name.c_str(), SSL_MODE_ASYNC);
    EXPECT_TRUE(pair.handshake()) << errors();
    EXPECT_EQ(pair.pauses, 3);  // keygen, encaps, decaps
  }
  EXPECT_EQ(polykem_slow_device_tickets(), 0U);
  polykem_slow_device_set(0);
}

INSTANTIATE_TEST_SUITE_P(All, Handshake, testing::ValuesIn(groups_of(Library().provider())),
                         [](const auto& info) { return identifier(info.param.first); });

const char* const kGroup = hybrid_name();

/// The device holds operations while a test of this kind runs.
class Jobs : public testing::Test {
 protected:
  Jobs() { polykem_slow_device_hold(); }
  ~Jobs() override {
    polykem_slow_device_set(0);
    EXPECT_EQ(polykem_slow_device_tickets(), 0U);
  }
};

TEST(Tls, HelloRetryRequest) {
  const Library library;
  Pair pair(library.get(), kGroup, (std::string("X25519:") + kGroup).c_str());
  EXPECT_TRUE(pair.handshake()) << errors();
}

TEST(Tls, NoCommonGroup) {
  const Library library;
  Pair pair(library.get(), kGroup, "frodo1344aes");
  EXPECT_FALSE(pair.handshake());
  errors();
}

TEST_F(Jobs, HybridsOfOpensslItself) {
  if (!openssl_has_mlkem()) GTEST_SKIP() << "this OpenSSL has no ML-KEM";
  const Library library;
  EVP_set_default_properties(library.get(), "?provider=polykem");
  for (const char* group : {"X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024", "MLKEM768"}) {
    Pair pair(library.get(), group, group, SSL_MODE_ASYNC);
    EXPECT_TRUE(pair.handshake()) << errors();
    EXPECT_EQ(pair.pauses, 3) << group;
  }
}

TEST_F(Jobs, ResumedWithoutCause) {
  const Library library;
  alarm(60);  // who waits instead of pausing is to fail, not to hang
  Pair pair(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(pair.step(pair.client.get(), false));
  EXPECT_EQ(pair.pauses, 100);
  EXPECT_TRUE(pair.handshake()) << errors();
  alarm(0);
}

bool is_readable(SSL* ssl) {
  OSSL_ASYNC_FD fds[4];
  std::size_t count = 0;
  if (SSL_get_all_async_fds(ssl, nullptr, &count) != 1 || count != 1) return false;
  SSL_get_all_async_fds(ssl, fds, &count);
  pollfd poll_fd{fds[0], POLLIN, 0};
  return poll(&poll_fd, 1, 0) == 1;
}

/// A client pauses twice on one descriptor. An event loop would spin if the descriptor stayed readable.
TEST_F(Jobs, ADescriptorIsReadableOnceForEachPause) {
  const Library library;
  Pair pair(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
  SSL* const client = pair.client.get();
  for (int pauses = 1; pauses <= 2; ++pauses) {
    EXPECT_TRUE(pair.step(client, false));
    ASSERT_EQ(SSL_want_async(client), 1) << pauses;
    EXPECT_FALSE(is_readable(client)) << pauses;
    polykem_slow_device_release();
    Pair::wait_for(client);
    EXPECT_TRUE(is_readable(client));
    if (pauses == 1) {
      pair.step(client);
      while (pair.step(pair.server.get()) && SSL_want_async(pair.server.get()) == 1) {
      }
    }
  }
  EXPECT_TRUE(pair.handshake()) << errors();
}

/// OpenSSL leaks the stack of a job that is not resumed, which leak checkers must ignore.
struct LeaksAllowed {
  LeaksAllowed() {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
  ~LeaksAllowed() {
    if (__lsan_enable != nullptr) __lsan_enable();
  }
};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(Jobs, Abandoned) {
  const char* const group = "x25519_frodo640aes";  // whose curve is libcrypto's
  const Library library;
  const LeaksAllowed by_openssl;
  live_keys().clear();
  const std::size_t descriptors = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    Pair client_goes(library.get(), group, group, SSL_MODE_ASYNC);
    client_goes.step(client_goes.client.get(), false);
    ASSERT_EQ(client_goes.pauses, 1);
    EXPECT_FALSE(live_keys().empty());

    Pair server_goes(library.get(), group, group, SSL_MODE_ASYNC);
    while (server_goes.pauses == 0 || SSL_want_async(server_goes.client.get()) == 1)
      server_goes.step(server_goes.client.get());
    server_goes.step(server_goes.server.get(), false);
    ASSERT_EQ(SSL_want_async(server_goes.server.get()), 1);
  }
  EXPECT_EQ(polykem_slow_device_tickets(), 0U);
  EXPECT_TRUE(live_keys().empty()) << "the classical halves of key pairs";
  EXPECT_EQ(open_descriptors(), descriptors);
}

/// Returns the resident memory of the process in bytes.
std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Runs handshakes that are abandoned at their first pause. Returns how many paused.
int abandon_handshakes(const Library& library, int count) {
  int paused = 0;
  for (int i = 0; i < count; ++i) {
    Pair pair(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
    pair.step(pair.client.get(), false);
    if (i % 2 == 1 && pair.pauses == 1) {  // done, but not resumed
      polykem_slow_device_release();
      Pair::wait_for(pair.client.get());
    }
    paused += pair.pauses;
  }
  return paused;
}

/// OpenSSL never frees an abandoned job, so their number has a limit, after which operations wait.
TEST_F(Jobs, AbandonedUpToALimit) {
  constexpr int kLimit = 20, kMore = 300;
  constexpr std::size_t kStackOfAJob = 16384;  // what it touches of it, at least
  const Library library("abandoned_limit = " + std::to_string(kLimit));
  const LeaksAllowed by_openssl;
  for (int i = 0; i < 2 * kLimit; ++i) {
    Pair resumed(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
    ASSERT_TRUE(resumed.handshake()) << errors();
    ASSERT_EQ(resumed.pauses, 3) << "nothing was abandoned";
  }
  EXPECT_EQ(abandon_handshakes(library, kLimit), kLimit);
  EXPECT_EQ(abandon_handshakes(library, 5), 0);
  const std::size_t before = resident_bytes();
  EXPECT_EQ(abandon_handshakes(library, kMore), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(resident_bytes(), before + kMore * kStackOfAJob / 4);
#else
  EXPECT_GT(before, kStackOfAJob);
#endif
  Pair waits(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
  EXPECT_TRUE(waits.handshake()) << errors();
  EXPECT_EQ(waits.pauses, 0);
}

/// The counters are written with operations, once a second.
TEST_F(Jobs, AbandonedPausesAreCounted) {
  const std::string path = testing::TempDir() + "polykem-abandoned", file = path + "." + std::to_string(getpid());
  const LeaksAllowed by_openssl;
  for (const auto& [limit, said] : {std::pair("0", "\"abandoned_pauses\": 2, \"pauses\": true"),
                                    std::pair("2", "\"abandoned_pauses\": 2, \"pauses\": false")}) {
    const Library library(std::string("abandoned_limit = ") + limit + "\nstatistics = " + path);
    polykem_slow_device_hold();
    abandon_handshakes(library, 2);
    polykem_slow_device_set(0);
    std::string text;
    for (int i = 0; i < 1000 && text.find(said) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_NE(generate(library, "mlkem512"), nullptr);
      std::ifstream in(file);
      text.assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_NE(text.find(said), std::string::npos) << text;
    std::remove(file.c_str());
  }
}

TEST_F(Jobs, CallbackOfTheProgram) {
  const Library library;
  std::atomic<int> called{0};
  Pair pair(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
  SSL_set_async_callback(pair.server.get(), [](SSL*, void* argument) {
    ++*static_cast<std::atomic<int>*>(argument);
    return 1;
  });
  SSL_set_async_callback_arg(pair.server.get(), &called);
  EXPECT_TRUE(pair.handshake()) << errors();
  EXPECT_EQ(called, 1);
}

TEST_F(Jobs, WithoutFileDescriptors) {
  const Library library;
  polykem_slow_device_set(1000);
  Pair first(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
  EXPECT_TRUE(first.handshake());  // opens what is opened once
  Pair pair(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
  rlimit before{}, none{};
  getrlimit(RLIMIT_NOFILE, &before);
  none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  const bool well = pair.handshake();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(well) << errors();
  EXPECT_EQ(pair.pauses, 0);
}

TEST_F(Jobs, SwitchedOff) {
  const Library library("async = off");
  polykem_slow_device_set(1000);
  Pair pair(library.get(), kGroup, kGroup, SSL_MODE_ASYNC);
  EXPECT_TRUE(pair.handshake()) << errors();
  EXPECT_EQ(pair.pauses, 0);
}

TEST_F(Jobs, PausesForbidden) {
  const Library library;
  struct Run {
    const Library& library;
    bool well;
  } run{library, false};
  polykem_slow_device_set(1000);
  ASYNC_WAIT_CTX* wait = ASYNC_WAIT_CTX_new();
  ASYNC_JOB* job = nullptr;
  Run* argument = &run;
  int result = 0;
  const auto body = [](void* data) {
    Run& mine = **static_cast<Run**>(data);
    ASYNC_block_pause();
    mine.well = generate(mine.library, "mlkem768") != nullptr;
    ASYNC_unblock_pause();
    return 1;
  };
  EXPECT_EQ(ASYNC_start_job(&job, wait, &result, body, &argument, sizeof argument), ASYNC_FINISH);
  EXPECT_TRUE(run.well);
  std::size_t descriptors = 0;
  EXPECT_EQ(ASYNC_WAIT_CTX_get_all_fds(wait, nullptr, &descriptors), 1);
  EXPECT_EQ(descriptors, 0U) << "no pause told the program of it, and HAProxy ends when it meets one";
  ASYNC_WAIT_CTX_free(wait);
}

TEST_F(Jobs, ManyConnections) {
  const Library library;
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < 20; ++i)
    pairs.push_back(std::make_unique<Pair>(library.get(), "frodo976aes", "frodo976aes", SSL_MODE_ASYNC));
  for (bool more = true; more;) {
    more = false;
    for (const auto& pair : pairs) {
      more = pair->step(pair->client.get(), false) || more;
      more = pair->step(pair->server.get(), false) || more;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    polykem_slow_device_release();
  }
  for (const auto& pair : pairs)
    EXPECT_EQ(SSL_is_init_finished(pair->server.get()), 1);
}

}  // namespace
}  // namespace polykem::provider::test
