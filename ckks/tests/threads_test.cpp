// SPDX-License-Identifier: Apache-2.0
// Tests how many threads a context starts: one for each CPU that the process may use, including the caller's.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

#include "handles.hpp"

namespace {

std::atomic<int> started{0};

}  // namespace

/// Replaces the C library's function, also for the C++ runtime.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  static const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  ++started;
  return next(thread, attributes, start, argument);
}

namespace {

using namespace polykem::ckks::test;

/// Returns the number of threads that a new context on the CPUs of `set` starts to encode a batch.
int threads_started(const cpu_set_t& set, unsigned threads) {
  EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
  uint64_t q = 0;
  EXPECT_EQ(polykem_ckks_find_primes(14, 60, 1, nullptr, 0, &q), POLYKEM_CKKS_OK);
  const polykem_ckks_parameters parameters{sizeof parameters, 14, 1, &q, nullptr, 0, nullptr, nullptr, 1, threads, 0};
  polykem_ckks_context* context = nullptr;
  EXPECT_EQ(polykem_ckks_context_new(&parameters, &context), POLYKEM_CKKS_OK) << polykem_ckks_error_text();
  const ContextHandle owner(context);
  constexpr size_t kItems = 64, kSlots = 1;
  const std::vector<double> values(2 * kItems * kSlots, 0.5);
  started = 0;
  polykem_ckks_plaintexts* out = nullptr;
  EXPECT_EQ(polykem_ckks_encode(context, values.data(), kItems, kSlots, 1, 0x1p40, &out), POLYKEM_CKKS_OK);
  polykem_ckks_plaintexts_free(out);
  return started;
}

TEST(CkksThreads, NoMoreThanUsableCpus) {
  cpu_set_t all, some;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&some);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < 3; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &some);
    EXPECT_LE(threads_started(some, 0), CPU_COUNT(&some) - 1);
    EXPECT_EQ(threads_started(some, 5), 4) << "what the caller asks for, it gets";
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
