// SPDX-License-Identifier: Apache-2.0
// Tests limits of the operating system, and copies of a process that has used the library.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "scenarios.hpp"

namespace polykem::test {
namespace {

/// Allocates nothing, since it is called when no memory is left.
size_t address_space() {
  char text[128] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const bool readable = file >= 0 && read(file, text, sizeof text - 1) > 0;
  close(file);
  return readable ? std::strtoull(text, nullptr, 10) * static_cast<size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

bool limit(decltype(RLIMIT_AS) which, size_t value) {
  const rlimit wanted{value, value};
  return setrlimit(which, &wanted) == 0;
}

std::string text(polykem_status status) {
  return std::string("returned: ") + polykem_status_text(status);
}

/// Runs and checks a batch. With `or_memory`, context and batch may also run out of memory.
std::string one_batch(const Watched::Shape& shape, bool or_memory = false) {
  Watched watched(shape);
  watched.begin();
  if (watched.context() == nullptr) return or_memory ? "" : "no context";
  const polykem_status status = watched.run();
  std::string problem;
  if (status == POLYKEM_OK && !or_memory) problem = watched.check(status);
  if (status != POLYKEM_OK) problem = watched.check(status);
  watched.end();
  if (!problem.empty()) return problem;
  return status == POLYKEM_OK || (or_memory && status == POLYKEM_ERR_OUT_OF_MEMORY) ? "" : text(status);
}

using Limits = testing::TestWithParam<Watched::Shape>;

/// Raises the limit from no further memory to enough.
TEST_P(Limits, AddressSpace) {
  bool enough = false;
  for (size_t more = 0; !enough; more = more == 0 ? 64 << 10 : more + more / 2) {
    const std::string problem = in_child([&] {
      Watched watched(GetParam());
      watched.begin();
      if (!limit(RLIMIT_AS, address_space() + more)) return std::string("no limit");
      const polykem_status status = watched.run();
      if (!limit(RLIMIT_AS, address_space())) return std::string("no limit");
      if (status == POLYKEM_ERR_OUT_OF_MEMORY) return watched.check(status);
      return status == POLYKEM_OK ? std::string() : text(status);
    });
    EXPECT_EQ(problem, "") << more << " bytes more";
    enough = more > size_t{512} << 20;
  }
}

/// A user may have two threads, however many the context requests.
TEST_P(Limits, Threads) {
  const std::string problem = in_child([&]() -> std::string {
    if (geteuid() == 0 && setuid(54321) != 0) return "no other user";  // root has no such limit
    if (!limit(RLIMIT_NPROC, 2)) return "no limit";
    Watched::Shape shape = GetParam();
    shape.threads = 64;
    shape.count = 6400;
    return one_batch(shape);
  });
  EXPECT_EQ(problem, "");
}

INSTANTIATE_TEST_SUITE_P(MLKEM512, Limits,
                         testing::Values(Watched::Shape{.op = POLYKEM_KEYGEN, .count = 400, .threads = 1},
                                         Watched::Shape{.op = POLYKEM_KEYGEN, .count = 400, .threads = 4},
                                         Watched::Shape{.op = POLYKEM_DECAPS, .count = 400, .threads = 4}),
                         [](const auto& info) { return testing::PrintToString(info.param); });

TEST(Limits, AnAbsurdNumberOfThreads) {
  const std::string problem = in_child([]() -> std::string {
    limit(RLIMIT_AS, address_space() + (size_t{4} << 30));  // a guard against a runaway test
    const polykem_config config{sizeof config, 4000000000u, nullptr};
    polykem_context* context = nullptr;
    const polykem_status status = polykem_context_new(&config, &context);
    if (status != POLYKEM_OK) return status == POLYKEM_ERR_ARGUMENT ? "" : text(status);
    const unsigned threads = polykem_context_threads(context);
    polykem_context_free(context);
    if (threads > 65536) return "a context of " + std::to_string(threads) + " threads";
    return one_batch({.count = 1000, .threads = 4000000000u});
  });
  EXPECT_EQ(problem, "");
}

// ---- a child of a process that has threads

/// Runs `in_the_child` in a fork of a process whose context has running threads. Returns its result.
std::string after_fork(const std::function<std::string(Watched&)>& in_the_child) {
  return in_child([&] {
    Watched watched({.op = POLYKEM_ENCAPS, .count = 400, .threads = 3});
    watched.begin();
    if (const polykem_status status = watched.run(); status != POLYKEM_OK) return text(status);
    const std::string problem = in_child([&] { return in_the_child(watched); }, 10);
    watched.end();
    return problem;
  });
}

std::string succeeds(Watched& watched, polykem_status status) {
  return status == POLYKEM_OK ? watched.check(status) : text(status);
}

TEST(Fork, AChildRunsABatchOfManyChunks) {
  EXPECT_EQ(after_fork([](Watched& w) { return succeeds(w, w.run()); }), "");
}

TEST(Fork, AChildSubmits) {
  EXPECT_EQ(after_fork([](Watched& w) { return succeeds(w, w.submit_and_wait()); }), "");
  EXPECT_EQ(after_fork([](Watched& w) { return succeeds(w, w.submit_with_callback()); }), "");
}

TEST(Fork, AChildFreesTheContext) {
  EXPECT_EQ(after_fork([](Watched& w) {
              w.end();
              return std::string();
            }),
            "");
}

TEST(Fork, AChildUsesAContextOfItsOwn) {
  EXPECT_EQ(after_fork([](Watched&) { return one_batch({.op = POLYKEM_DECAPS, .count = 400, .threads = 3}); }), "");
}

/// The child waits for none of the locks that the parent's threads hold at the fork.
TEST(Fork, AChildOfAProcessWithBusyThreadsComputes) {
  const polykem_config config{sizeof config, 2, nullptr};
  polykem_context* context = nullptr;
  const polykem_scheme* scheme = nullptr;
  ASSERT_EQ(polykem_context_new(&config, &context), POLYKEM_OK);
  ASSERT_EQ(polykem_scheme_find("mlkem512", &scheme), POLYKEM_OK);
  const auto keygen = [&](size_t count) {
    Bytes pk(count * 800), sk(count * 1632);
    return polykem_keygen(context, scheme, count, pk.data(), sk.data());
  };
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (const size_t count : {1, 1, 300, 300})
    threads.emplace_back([&, count] {
      while (!stop)
        EXPECT_EQ(keygen(count), POLYKEM_OK);
    });
  std::string problem;
  for (int i = 0; i < 300 && problem.empty(); ++i) {
    problem = in_child(
        [&]() -> std::string {
          const polykem_status status = keygen(i % 2 == 0 ? 1 : 300);
          return status == POLYKEM_OK ? "" : text(status);
        },
        10);
  }
  stop = true;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(problem, "");
  polykem_context_free(context);
}

using Curves = testing::TestWithParam<std::pair<const char*, const char*>>;

/// When the parent forks, another thread makes the tables of a curve's base point, which takes some milliseconds.
TEST_P(Curves, AChildForkedDuringTheirFirstUseComputes) {
  const char* const set = GetParam().first;
  const char* const backend = GetParam().second;
  std::string problem;
  for (int i = 0; i < 100 && problem.empty(); ++i) {
    problem = in_child([&]() -> std::string {
      if (const std::string warm = one_batch({.backend = backend}); !warm.empty()) return warm;
      std::atomic<bool> begun{false};
      std::string others;
      std::thread other([&] {
        begun = true;
        others = one_batch({.scheme = set, .backend = backend});
      });
      while (!begun) {
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20 * i));
      const std::string childs = in_child([&] { return one_batch({.scheme = set, .backend = backend}); }, 10);
      other.join();
      return childs + others;
    });
  }
  EXPECT_EQ(problem, "");
}

INSTANTIATE_TEST_SUITE_P(Fork, Curves,
                         testing::Values(std::pair("x25519mlkem768", "ref"), std::pair("secp256r1mlkem768", "ref"),
                                         std::pair("secp384r1mlkem1024", nullptr)),
                         [](const auto& info) { return std::string(info.param.first); });

/// Returns what `make` makes in this process, and in a fork with the same generators.
std::pair<Bytes, Bytes> own_and_childs(const std::function<polykem_status(Bytes&)>& make, size_t bytes) {
  int ends[2];
  Bytes own(bytes), childs(bytes);
  EXPECT_EQ(pipe(ends), 0);
  const std::string problem = in_child([&]() -> std::string {
    if (const polykem_status status = make(childs); status != POLYKEM_OK) return text(status);
    return write(ends[1], childs.data(), bytes) == static_cast<ssize_t>(bytes) ? "" : "no pipe";
  });
  EXPECT_EQ(problem, "");
  EXPECT_EQ(read(ends[0], childs.data(), bytes), static_cast<ssize_t>(bytes));
  EXPECT_EQ(make(own), POLYKEM_OK);
  close(ends[0]);
  close(ends[1]);
  return {own, childs};
}

/// Parent and child encapsulate to one key; nothing that they make may be equal.
TEST(Fork, AChildDrawsItsOwnSecrets) {
  const polykem_scheme* scheme = nullptr;
  ASSERT_EQ(polykem_scheme_find("mlkem512", &scheme), POLYKEM_OK);
  const polykem_config config{sizeof config, 1, nullptr};
  polykem_context* context = nullptr;
  ASSERT_EQ(polykem_context_new(&config, &context), POLYKEM_OK);
  Bytes pk(800), sk(1632), ct(768);
  ASSERT_EQ(polykem_keygen(context, scheme, 1, pk.data(), sk.data()), POLYKEM_OK);
  const auto encaps = [&](Bytes& secret) {
    return polykem_encaps(context, scheme, 1, POLYKEM_KEY_SHARED, pk.data(), ct.data(), secret.data(), nullptr);
  };
  const auto [own, childs] = own_and_childs(encaps, 32);
  EXPECT_NE(own, childs);
  polykem_context_free(context);
}

/// A machine without random numbers can still sign with rnd = 0 [FIPS204, 3.4].
/// Requests of one ML-DSA-44 signature of an empty message.
class OneSignature {
 public:
  static constexpr size_t kPublicBytes = 1312, kSecretBytes = 2560, kBytes = 2420;

  OneSignature() {
    const polykem_config config{sizeof config, 1, nullptr};
    EXPECT_EQ(polykem_signature_find("mldsa44", &scheme), POLYKEM_OK);
    EXPECT_EQ(polykem_context_new(&config, &context), POLYKEM_OK);
    messages.struct_size = sizeof messages;
    request.struct_size = sizeof request;
    request.op = POLYKEM_SIGN;
    request.scheme = scheme;
    request.count = 1;
    request.messages = &messages;
  }
  ~OneSignature() { polykem_context_free(context); }
  OneSignature(const OneSignature&) = delete;
  OneSignature& operator=(const OneSignature&) = delete;

  polykem_status sign(Bytes& sig) {
    request.sig_out = sig.data();
    return polykem_run(context, &request);
  }

  const polykem_scheme* scheme = nullptr;
  polykem_context* context = nullptr;
  polykem_messages messages{};
  polykem_request request{};
};

TEST(Entropy, DeterministicSignaturesNeedNone) {
  OneSignature signature;
  const Bytes seed(32, 7);
  Bytes sig(OneSignature::kBytes);
  signature.request.sk = seed.data();
  signature.request.secret_form = POLYKEM_SECRET_SEED;
  for (const int deterministic : {1, 0}) {
    signature.messages.deterministic = deterministic;
    arm({Call::kRandom, 1, true});
    EXPECT_EQ(signature.sign(sig), deterministic == 1 ? POLYKEM_OK : POLYKEM_ERR_RANDOM);
    EXPECT_EQ(disarm(), deterministic == 0);
  }
}

/// Signatures of one message differ only in rnd.
TEST(Fork, AChildSignsWithItsOwnRandomNumbers) {
  OneSignature signature;
  Bytes pk(OneSignature::kPublicBytes), sk(OneSignature::kSecretBytes);
  ASSERT_EQ(polykem_keygen(signature.context, signature.scheme, 1, pk.data(), sk.data()), POLYKEM_OK);
  signature.request.sk = sk.data();
  const auto sign = [&](Bytes& sig) { return signature.sign(sig); };
  const auto [own, childs] = own_and_childs(sign, OneSignature::kBytes);
  EXPECT_NE(own, childs);
}

}  // namespace
}  // namespace polykem::test
