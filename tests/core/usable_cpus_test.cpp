// SPDX-License-Identifier: Apache-2.0
// Tests how many CPUs a process may use, with folders that simulate machines.
#include "core/usable_cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "polykem/polykem.h"

namespace polykem {
namespace {

constexpr const char* kVersion2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kVersion1 =
    "25 24 0:22 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "26 24 0:23 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n";

struct CpuQuota : testing::Test {
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("polykem-cpus-" + std::to_string(getpid()));

  CpuQuota() { std::filesystem::create_directories(root); }
  ~CpuQuota() override { std::filesystem::remove_all(root); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void machine(const std::string& groups, const std::string& mounts) {
    put("proc/self/cgroup", groups);
    put("proc/self/mountinfo", "24 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n" + mounts);
  }
  void put_v1(const std::string& folder, const std::string& quota, const std::string& period) {
    put(folder + "/cpu.cfs_quota_us", quota);
    put(folder + "/cpu.cfs_period_us", period);
  }
  double quota() const { return cpu_quota(root.string()); }
};

TEST_F(CpuQuota, NoneWhereNothingIsMounted) {
  EXPECT_EQ(quota(), 0);
  machine("0::/user.slice\n", "");
  EXPECT_EQ(quota(), 0);
  machine("nonsense\n:\n::\n0:\n", "- \n - \n30 24 0:26 - cgroup2\n" + std::string(kVersion2));
  EXPECT_EQ(quota(), 0);
}

TEST_F(CpuQuota, OfTheGroupAndOfThoseAboveIt) {
  machine("0::/a.slice/b.service\n", kVersion2);
  EXPECT_EQ(quota(), 0);
  put("sys/fs/cgroup/a.slice/b.service/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
  put("sys/fs/cgroup/a.slice/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 2.5);
  put("sys/fs/cgroup/a.slice/b.service/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 0.5);
  put("sys/fs/cgroup/a.slice/b.service/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 2.5);
  put("sys/fs/cgroup/cpu.max", "100000 100000\n");  // a container's own, seen from within
  EXPECT_EQ(quota(), 1);
  put("sys/fs/cgroup/other/cpu.max", "1 100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(CpuQuota, OfTheRootOfANamespace) {
  machine("0::/\n", kVersion2);
  put("sys/fs/cgroup/cpu.max", "300000 200000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(CpuQuota, OfVersion1) {
  machine("5:cpuset:/x\n4:cpu,cpuacct:/docker/id\n1:name=systemd:/docker/id\n", kVersion1);
  put_v1("sys/fs/cgroup/cpu,cpuacct/docker/id", "-1\n", "100000\n");
  EXPECT_EQ(quota(), 0);
  put_v1("sys/fs/cgroup/cpu,cpuacct/docker", "350000\n", "100000\n");
  EXPECT_EQ(quota(), 3.5);
  put_v1("sys/fs/cgroup/cpuset/x", "1000\n", "100000\n");  // not the controller of CPU time
  EXPECT_EQ(quota(), 3.5);
}

/// The control group has its name on the host, and only its own folder is mounted.
TEST_F(CpuQuota, OfVersion1InAContainer) {
  machine("4:cpu,cpuacct:/docker/id/job\n",
          "26 24 0:23 /docker/id /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  put_v1("sys/fs/cgroup/cpu", "200000\n", "100000\n");
  EXPECT_EQ(quota(), 2);
  put_v1("sys/fs/cgroup/cpu/job", "150000\n", "100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(CpuQuota, OfGroupsBesideTheMount) {
  machine("0::/../sibling\n", kVersion2);
  put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  put("sibling/cpu.max", "1 100000\n");
  EXPECT_EQ(quota(), 2);
  machine("0::/elsewhere\n", "30 24 0:26 /here /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(CpuQuota, TheLesserOfBothVersions) {
  machine("4:cpu:/x\n0::/y\n", std::string(kVersion2) + "26 24 0:23 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  put_v1("sys/fs/cgroup/cpu/x", "400000\n", "100000\n");
  EXPECT_EQ(quota(), 4);
  put("sys/fs/cgroup/y/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(CpuQuota, WhatIsNoQuota) {
  machine("0::/a\n", kVersion2);
  for (const char* text : {"", "max", "max 100000", "100000", "0 100000", "100000 0", "-5 100000", "x y"}) {
    put("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(quota(), 0) << text;
  }
}

TEST(UsableCpus, TheLesserOfAffinityAndQuotaRoundedUp) {
  EXPECT_EQ(usable_cpus(8, 0).count, 8U);
  EXPECT_EQ(usable_cpus(8, 16).count, 8U);
  EXPECT_EQ(usable_cpus(8, 8).count, 8U);
  EXPECT_EQ(usable_cpus(8, 2.5).count, 3U);
  EXPECT_EQ(usable_cpus(8, 2).count, 2U);
  EXPECT_EQ(usable_cpus(8, 0.01).count, 1U);
  EXPECT_EQ(usable_cpus(1, 0).count, 1U);
}

TEST(UsableCpus, FollowTheAffinity) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_LE(usable_cpus().count, static_cast<unsigned>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(first, &before))
    ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const UsableCpus usable = usable_cpus();
  const char* why = nullptr;
  const unsigned cpus = polykem_cpus(&why);
  polykem_context* context = nullptr;
  const polykem_status status = polykem_context_new(nullptr, &context);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(usable.count, 1U);
  EXPECT_EQ(usable.affinity, 1U);
  EXPECT_EQ(cpus, 1U);
  EXPECT_EQ(std::string(why).rfind("an affinity of 1, ", 0), 0U) << why;
  ASSERT_EQ(status, POLYKEM_OK);
  EXPECT_EQ(polykem_context_threads(context), 1U);
  polykem_context_free(context);
}

}  // namespace
}  // namespace polykem
