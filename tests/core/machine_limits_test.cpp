// SPDX-License-Identifier: Apache-2.0
// Tests how much memory and how many threads a process may use, with folders that simulate machines.
#include "core/limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "polykem/polykem.h"

namespace polykem {
namespace {

constexpr uint64_t kMachineKib = 16'000'000;

struct Limits : testing::Test {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("polykem-limits-" + std::to_string(getpid()));

  Limits() {
    put("proc/meminfo", "MemFree:        1000 kB\nMemTotal:       16000000 kB\nMemAvailable: 5 kB\n");
    put("proc/sys/kernel/threads-max", "120000\n");
  }
  ~Limits() override { std::filesystem::remove_all(root); }

  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = root / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void group_of_version2() const {
    put("proc/self/cgroup", "0::/system.slice/polykemd.service\n");
    put("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  }
  void expect_memory(uint64_t bytes, bool of_group) const {
    EXPECT_EQ(memory_limit(root.string()).value, bytes);
    EXPECT_EQ(memory_limit(root.string()).of_group, of_group);
  }
  void expect_threads(uint64_t threads, bool of_group) const {
    EXPECT_EQ(thread_limit(root.string()).value, threads);
    EXPECT_EQ(thread_limit(root.string()).of_group, of_group);
  }
};

TEST_F(Limits, AreTheMachinesWithoutGroups) {
  expect_memory(kMachineKib * 1024, false);
  expect_threads(120000, false);
}

TEST_F(Limits, AreUnknownWhereNothingSaysSo) {
  std::filesystem::remove_all(root);
  expect_memory(0, false);
  expect_threads(0, false);
}

TEST_F(Limits, OfTheGroupAndOfThoseAboveIt) {
  group_of_version2();
  put("sys/fs/cgroup/system.slice/polykemd.service/memory.max", "max\n");
  put("sys/fs/cgroup/system.slice/polykemd.service/pids.max", "500\n");
  expect_memory(kMachineKib * 1024, false);
  expect_threads(500, true);
  put("sys/fs/cgroup/system.slice/memory.max", "2147483648\n");
  expect_memory(2147483648U, true);
  put("sys/fs/cgroup/system.slice/polykemd.service/memory.max", "4294967296\n");
  expect_memory(2147483648U, true);
}

TEST_F(Limits, OfVersion1) {
  put("proc/self/cgroup", "7:pids:/p\n4:memory:/m\n");
  put("proc/self/mountinfo",
      "26 24 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "27 24 0:24 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n");
  put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "9223372036854771712\n");  // none
  put("sys/fs/cgroup/pids/p/pids.max", "max\n");
  expect_memory(kMachineKib * 1024, false);
  expect_threads(120000, false);
  put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1048576\n");
  put("sys/fs/cgroup/pids/p/pids.max", "64\n");
  expect_memory(1048576, true);
  expect_threads(64, true);
}

TEST_F(Limits, ThatAreNoNumber) {
  group_of_version2();
  for (const char* text : {"", "max", "-1x", "many"}) {
    put("sys/fs/cgroup/memory.max", text);
    expect_memory(kMachineKib * 1024, false);
  }
}

TEST(LimitsOfThisProcess, HaveAReason) {
  for (const polykem_resource resource : {POLYKEM_MEMORY, POLYKEM_THREADS}) {
    const char* why = nullptr;
    EXPECT_GT(polykem_limit(resource, &why), 0U);
    EXPECT_NE(why, nullptr);
    EXPECT_GT(polykem_limit(resource, nullptr), 0U);
  }
  const char* why = nullptr;
  EXPECT_EQ(polykem_limit(static_cast<polykem_resource>(2), &why), 0U);
  EXPECT_EQ(why, nullptr);
}

}  // namespace
}  // namespace polykem
