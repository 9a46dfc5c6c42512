// SPDX-License-Identifier: Apache-2.0
// Tests the C API in many threads and after a fork. `make test` also runs these under ThreadSanitizer.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <future>
#include <thread>

#include "support/batch.hpp"

namespace polykem::test {
namespace {

/// The set that the tests of threads compute. They look at the engine, which cuts the batches of every set alike; under
/// ThreadSanitizer NTRU's keys would take most of the time.
#ifdef __SANITIZE_THREAD__
constexpr const char* kThreadsSet = "mlkem512";
#else
constexpr const char* kThreadsSet = "ntruhps2048509";
#endif

TEST(Async, JobsFinishAndCallBackOnce) {
  const Context context = make_context(nullptr, 2);
  const auto* set = scheme(kThreadsSet);
  const auto sizes = info(set);
  const size_t jobs = 12, count = 50;
  std::vector<Bytes> pk(jobs, Bytes(count * sizes.public_key_bytes)), sk(jobs, Bytes(count * sizes.secret_key_bytes));
  std::vector<polykem_job*> handles(jobs, nullptr);
  std::atomic<int> calls{0};
  for (size_t i = 0; i < jobs; ++i) {
    auto request = make_request(POLYKEM_KEYGEN, set, count);
    request.pk_out = pk[i].data();
    request.sk_out = sk[i].data();
    ASSERT_EQ(
        polykem_submit(
            context.get(), &request,
            [](void* user, polykem_status status) { *static_cast<std::atomic<int>*>(user) += status == POLYKEM_OK; },
            &calls, &handles[i]),
        POLYKEM_OK);
  }
  for (size_t i = 0; i < jobs; ++i) {
    EXPECT_EQ(polykem_job_wait(handles[i]), POLYKEM_OK);
    EXPECT_EQ(polykem_job_poll(handles[i]), POLYKEM_OK);
    polykem_job_free(handles[i]);
    const Bytes zero(sizes.public_key_bytes, 0);
    EXPECT_NE(0, std::memcmp(&pk[i][(count - 1) * sizes.public_key_bytes], zero.data(), zero.size()));
  }
  EXPECT_EQ(calls, static_cast<int>(jobs));
}

/// Meanwhile the callback of another job holds the only thread, so the test does not depend on the machine's speed.
TEST(Async, PollSaysBusyUntilItIsDone) {
  const Context context = make_context(nullptr, 1);
  const auto* set = scheme("ntruhps2048509");
  const auto sizes = info(set);
  Bytes pk(2 * sizes.public_key_bytes), sk(2 * sizes.secret_key_bytes);
  auto request = make_request(POLYKEM_KEYGEN, set, 1);
  request.pk_out = pk.data();
  request.sk_out = sk.data();
  std::promise<void> release;
  const auto hold = [](void* user, polykem_status) { static_cast<std::promise<void>*>(user)->get_future().wait(); };
  ASSERT_EQ(polykem_submit(context.get(), &request, hold, &release, nullptr), POLYKEM_OK);
  request.pk_out += sizes.public_key_bytes;
  request.sk_out += sizes.secret_key_bytes;
  polykem_job* job = nullptr;
  ASSERT_EQ(polykem_submit(context.get(), &request, nullptr, nullptr, &job), POLYKEM_OK);
  EXPECT_EQ(polykem_job_poll(job), POLYKEM_ERR_BUSY);
  release.set_value();
  EXPECT_EQ(polykem_job_wait(job), POLYKEM_OK);
  EXPECT_EQ(polykem_job_poll(job), POLYKEM_OK);
  polykem_job_free(job);
}

/// In its callback a job can be queried and freed, and a batch of many chunks can run; nothing waits for itself.
TEST(Async, ACallbackMayUseTheLibrary) {
  struct State {
    polykem_context* context;
    const polykem_scheme* set = scheme("mlkem512");
    std::atomic<polykem_job*> job{nullptr};
    polykem_status waited = POLYKEM_OK, ran = POLYKEM_ERR_BUSY;
    std::promise<void> done;
  };
  Context context = make_context(nullptr, 2);
  State state{.context = context.get(), .done = {}};
  const Exchange x(context.get(), state.set, 8);
  Bytes ss(8 * 32);
  polykem_request r = make_request(POLYKEM_DECAPS, state.set, 8);
  r.sk = x.sk.data();
  r.ct = x.ct.data();
  r.ss_out = ss.data();
  const auto callback = [](void* user, polykem_status) {
    auto& s = *static_cast<State*>(user);
    while (s.job == nullptr)
      std::this_thread::yield();
    s.waited = polykem_job_wait(s.job);
    const Exchange inside(s.context, s.set, 500);
    s.ran = POLYKEM_OK;
    polykem_context_free(s.context);  // does nothing here
    polykem_job_free(s.job);
    s.done.set_value();
  };
  polykem_job* job = nullptr;
  ASSERT_EQ(polykem_submit(context.get(), &r, callback, &state, &job), POLYKEM_OK);
  state.job = job;
  ASSERT_EQ(state.done.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(state.waited, POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(state.ran, POLYKEM_OK);
  EXPECT_EQ(polykem_context_threads(context.get()), 2u) << "the context is still there";
}

TEST(Async, AJobWithoutHandleFreesItself) {
  const Context context = make_context(nullptr, 2);
  const auto* set = scheme("ntruhps2048509");
  const auto sizes = info(set);
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes);
  std::promise<polykem_status> done;
  auto request = make_request(POLYKEM_KEYGEN, set, 1);
  request.pk_out = pk.data();
  request.sk_out = sk.data();
  ASSERT_EQ(polykem_submit(
                context.get(), &request,
                [](void* user, polykem_status s) { static_cast<std::promise<polykem_status>*>(user)->set_value(s); },
                &done, nullptr),
            POLYKEM_OK);
  EXPECT_EQ(done.get_future().get(), POLYKEM_OK);
}

TEST(Threads, ManyCallersShareOneContext) {
  for (const unsigned threads : {1u, 3u}) {
    const Context context = make_context(nullptr, threads);
    std::vector<std::thread> callers;
    for (uint64_t caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&, caller] {
        const Exchange exchange(context.get(), scheme(kThreadsSet), 20, caller);
        EXPECT_EQ(exchange.sender, exchange.receiver);
      });
    }
    for (auto& caller : callers)
      caller.join();
  }
}

TEST(Threads, TheNumberOfThreadsDoesNotChangeTheResult) {
  const auto* set = scheme(kThreadsSet);
  const Context one = make_context(nullptr, 1), four = make_context(nullptr, 4);
  const Exchange a(one.get(), set, 101, 5), b(four.get(), set, 101, 5);
  EXPECT_EQ(a.pk, b.pk);
  EXPECT_EQ(a.ct, b.ct);
  EXPECT_EQ(a.sender, b.receiver);
}

TEST(Fork, TheChildDrawsOtherNumbers) {
  const Context context = make_context();
  const polykem_scheme* set = scheme("ntruhps2048509");
  const polykem_scheme_info_t sizes = info(set);
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes), from_child(sizes.public_key_bytes);
  ASSERT_EQ(polykem_keygen(context.get(), set, 1, pk.data(), sk.data()), POLYKEM_OK);
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool ok = polykem_keygen(context.get(), set, 1, pk.data(), sk.data()) == POLYKEM_OK &&
                    write(channel[1], pk.data(), pk.size()) == static_cast<ssize_t>(pk.size());
    _exit(ok ? 0 : 1);
  }
  ASSERT_EQ(polykem_keygen(context.get(), set, 1, pk.data(), sk.data()), POLYKEM_OK);
  ASSERT_EQ(read(channel[0], from_child.data(), from_child.size()), static_cast<ssize_t>(from_child.size()));
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(from_child, pk);
  close(channel[0]);
  close(channel[1]);
}

}  // namespace
}  // namespace polykem::test
