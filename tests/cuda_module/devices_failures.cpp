// SPDX-License-Identifier: Apache-2.0
// Tests the module's devices when calls fail, devices are lost, and the process ends.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "toy.hpp"

namespace polykem::cuda::test {

namespace {

void check_memory() {
  const Records r(20000, true);
  table().set_budget(size_t{1} << 21);
  expect(exchange(r), "exchange with a small budget");
  table().set_budget(0);
  for (int after = 0; after < 6; ++after) {
    table().inject(Fault::kAllocation, after);
    expect(exchange(r), "exchange with a failed allocation");
  }
}

/// A failed batch is reported, and devices stay in use as long as they answer. A device that does not answer is never
/// used again, and the other one continues. When both are lost, the module reports it.
void check_failures() {
  const Records r(200000, true);
  expect(exchange(r), "exchange");
  for (const Fault fault : {Fault::kStep, Fault::kSynchronize}) {
    table().inject(fault, 0);
    expect(run(Op::kKeygen, r) == Outcome::kFailed, "a failure is reported");
    fake_runtime::run_all();
    expect(!fake_runtime::device_memory_has({r.sk, r.sk + kSk}), "secrets are wiped after a failure");
    expect(devices_in_use() == 2, "a device that answers stays in use");
  }
  for (const int lost : {1, 0}) {
    fake_runtime::break_device(lost, true);
    expect(run(Op::kKeygen, r) == Outcome::kFailed, "a device that does not answer is reported");
    fake_runtime::break_device(lost, false);
    expect(devices_in_use() == lost, "it is not used again");
  }
}

/// A device that answers but on which every batch fails is given up in the end; a success in between counts.
void check_many_failures() {
  const Records r(500, true);
  const auto fail_often = [&r](int times) {
    for (int i = 0; i < times; ++i) {
      table().inject(Fault::kSynchronize, 0);
      expect(run(Op::kKeygen, r) == Outcome::kFailed, "a failure is reported");
    }
  };
  for (int round = 0; round < 3; ++round) {
    fail_often(12);
    expect(exchange(r), "exchange");
  }
  fail_often(40);
  table().inject(Fault::kNone, 0);
  expect(!exchange(r), "both devices are given up");
}

/// Batches that succeed on one device do not keep another one in use.
void check_one_fails() {
  const Records small(500, true);
  (void)cudaSetDevice(1);
  Records there(500, true);
  void *pk = nullptr, *sk = nullptr;
  expect(cudaMalloc(&pk, there.count * kPk) == cudaSuccess && cudaMalloc(&sk, there.count * kSk) == cudaSuccess,
         "memory of the second device");
  (void)cudaSetDevice(0);
  uint8_t *const host_pk = there.pk, *const host_sk = there.sk;
  there.pk = static_cast<uint8_t*>(pk), there.sk = static_cast<uint8_t*>(sk);
  for (int i = 0; i < 20; ++i) {
    table().inject(Fault::kSynchronize, 0);
    expect(run(Op::kKeygen, there) == Outcome::kFailed, "the second device fails");
    table().inject(Fault::kNone, 0);
    expect(exchange(small), "the first one does not");
  }
  there.pk = host_pk, there.sk = host_sk;
  expect(devices_in_use() == 1, "the second device is given up");
}

/// Runs a batch of each operation while the nth call of the runtime fails. Returns false if there were fewer calls.
bool runs_with_fault(int nth, size_t count, bool pinned) {
  const Records r(count, pinned);
  fake_runtime::fail_call(nth);
  const bool has_keys = run(Op::kKeygen, r) == Outcome::kOk;
  const bool good = has_keys && run(Op::kEncaps, r) == Outcome::kOk && run(Op::kDecaps, r) == Outcome::kOk;
  fake_runtime::fail_call(0);
  const bool happened = fake_runtime::failed() != nullptr;
  if (good) expect(std::memcmp(r.ss, r.ss2, r.count * kSs) == 0, "a batch that succeeded is right");
  fake_runtime::run_all();
  if (has_keys) expect(!fake_runtime::device_memory_has({r.sk, r.sk + kSk}), "secret keys are wiped");
  expect(exchange(r) || happened, "the other device goes on");
  return happened;
}

/// Makes every call of the runtime fail once, each in a process of its own; for a large batch with many calls, every
/// fifth. 200,000 items use the streams that parts share.
void check_calls(size_t count, int stride) {
  for (const bool pinned : {true, false}) {
    int nth = 1;
    for (bool happened = true; happened; nth += stride) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);
        happened = runs_with_fault(nth, count, pinned);
        _exit(failures > 0 ? 1 : happened ? 0 : 2);
      }
      int status = 0;
      waitpid(child, &status, 0);
      happened = WIFEXITED(status) && WEXITSTATUS(status) != 2;
      const bool good = WIFEXITED(status) && WEXITSTATUS(status) != 1;
      expect(good, "a failed call is a reported failure");
      if (!good) std::fprintf(stderr, "  call %d, %zu items\n", nth, count);
      if (!good) return;
    }
    expect(nth > 20, "there are calls that can fail");
  }
}

/// A module that was compiled for other GPUs says so, and names those for which it should be compiled.
void check_no_code() {
  loading[0] = loading[1] = cudaErrorNoKernelImageForDevice;
  ErrorText why{};
  expect(table().open(&why) == Outcome::kFailed, "a module without code for the GPU opens");
  expect(std::string(why.text) ==
             "the module has code for 7.5, 8.0, not for Fake GPU, compute capability 9.0: "
             "make cuda ARCHS=90",
         why.text);
}

/// PTX that the driver cannot translate is no code either; the driver's words say so.
void check_new_ptx() {
  loading[0] = loading[1] = cudaErrorUnsupportedPtxVersion;
  ErrorText why{};
  expect(table().open(&why) == Outcome::kFailed, "a module with PTX for a later driver opens");
  expect(std::strstr(why.text, "9.0 (of the fake runtime): make cuda ARCHS=90") != nullptr, why.text);
}

/// A device that cannot be used, since another process has it for itself, leaves the others in use.
void check_one_busy() {
  loading[0] = cudaErrorDevicesUnavailable;
  expect(exchange(Records(500, true)), "exchange");
  expect(table().device_count() == 1 && devices_in_use() == 1, "the second device is used");
}

/// The process ends while a thread is inside the driver, whose handler at exit tears it down.
void check_exit_while_opening() {
  fake_runtime::start_slowly(300);
  std::thread([] { (void)table().open(nullptr); }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

void check_exit_while_computing() {
  fake_runtime::start_slowly(0);
  expect(table().open(nullptr) == Outcome::kOk, "open");
  for (int i = 0; i < 4; ++i) {
    std::thread([] {
      const Records r(20000, false);
      while (run(Op::kKeygen, r) == Outcome::kOk) {
      }
    }).detach();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

std::span<const Check> failure_checks() {
  static constexpr Check kAll[] = {
      {"memory", check_memory},
      {"failures", check_failures},
      {"many_failures", check_many_failures},
      {"one_fails", check_one_fails},
      {"calls", [] { check_calls(500, 1); }},
      {"calls_large", [] { check_calls(200000, 5); }},
      {"no_code", check_no_code},
      {"new_ptx", check_new_ptx},
      {"one_busy", check_one_busy},
      {"exit_while_opening", check_exit_while_opening},
      {"exit_while_computing", check_exit_while_computing},
  };
  return kAll;
}

}  // namespace polykem::cuda::test
