// SPDX-License-Identifier: Apache-2.0
#include "engine/worker.hpp"

#include <gtest/gtest.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "prim/drbg/drbg.hpp"

namespace {
bool entropy_fails = false;
}

/// Replaces getrandom of the C library.
extern "C" ssize_t getrandom(void* out, size_t bytes, unsigned flags) {
  if (!entropy_fails) return syscall(SYS_getrandom, out, bytes, flags);
  errno = ENOSYS;
  return -1;
}

namespace polykem {
namespace {

TEST(WorkerPool, WipesAWorkerThatGoesBack) {
  WorkerPool pool;
  auto worker = pool.take();
  ASSERT_TRUE(worker->reserve_keys(64));
  const auto* keys = reinterpret_cast<const uint8_t*>(worker->keys.data());
  std::memset(worker->keys.data(), 0xaa, 64);
  pool.give_back(std::move(worker));
  EXPECT_EQ(std::count(keys, keys + 64, 0), 64);
}

TEST(OsEntropy, ItsFailureIsAnError) {
  uint8_t out[8];
  entropy_fails = true;
  EXPECT_EQ(os_entropy(out), Status::kRandom);
  entropy_fails = false;
  EXPECT_EQ(os_entropy(out), Status::kOk);
}

}  // namespace
}  // namespace polykem
