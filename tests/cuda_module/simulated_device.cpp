// SPDX-License-Identifier: Apache-2.0
// A CUDA module without a GPU that computes right: this machine's CPU does the work, and a batch takes a millisecond,
// one after the other. With it, servers are tested that use a device (POLYKEM_CUDA_MODULE names this file,
// POLYKEM_BACKEND=cuda takes it for everything).
//
//   SIMULATED_DEVICE_US      the time that a batch takes, 1000 if it is not set
//   SIMULATED_DEVICE_FAULT   a file whose first word says what is wrong now: "stall" (batches wait until it says
//                            something else), "fail" (the device is gone), "lie" (one wrong bit in each batch)
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda_module/module.hpp"
#include "engine/engine.hpp"
#include "schemes/registry.hpp"

namespace {

using namespace polykem;
using namespace polykem::cuda;
using Clock = std::chrono::steady_clock;

std::string fault() {
  const char* path = std::getenv("SIMULATED_DEVICE_FAULT");
  std::string word;
  if (path != nullptr) std::ifstream(path) >> word;
  return word;
}

Clock::duration time_of_a_batch() {
  const char* text = std::getenv("SIMULATED_DEVICE_US");
  return std::chrono::microseconds(text == nullptr ? 1000 : std::atoi(text));
}

Outcome fail(ErrorText* why, const char* text) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", text);
  return Outcome::failed;
}

/// An engine of the module's own, which uses no threads and no accelerator.
Engine& engine() {
  static const std::unique_ptr<Engine> only = [] {
    std::unique_ptr<Engine> made;
    for (const BackendDescription& backend : cpu_backends())
      if (Engine::create({.threads = 1, .backend = backend.name, .accelerators = {}}, made) == Status::ok) break;
    return made;
  }();
  return *only;
}

/// One step that covers everything, for each operation of each set.
struct Described {
  explicit Described(const Scheme& scheme) {
    for (size_t i = 0; i < kOps; ++i) {
      const Op op = static_cast<Op>(i);
      steps[i] = {{"everything", 0, static_cast<uint8_t>(scheme.stages.of(op).size())}, 0, 0};
      DeviceOperation& operation = set.operations[i];
      operation.scheme = scheme.name;
      operation.op = op;
      operation.record_bytes = scheme.record_bytes(op);
      operation.steps = {&steps[i], 1};
      operation.part_items = 8192;
      operation.staged_bytes = size_t{1} << 30;
      operation.least_items = 64;
      operation.most_items = 1 << 30;
    }
    set.name = scheme.name;
  }
  DeviceStep steps[kOps]{};
  DeviceScheme set{};
};

const DeviceScheme* scheme(const char* name) {
  static const auto all = [] {
    std::vector<std::unique_ptr<Described>> sets;
    for (const Scheme* s : registry())
      sets.push_back(std::make_unique<Described>(*s));
    return sets;
  }();
  for (const auto& described : all)
    if (std::strcmp(described->set.name, name) == 0) return &described->set;
  return nullptr;
}

/// The keys that the items use, side by side.
std::vector<uint8_t> gathered(const BatchView& batch, const uint8_t* keys, size_t bytes) {
  std::vector<uint8_t> all(batch.count * bytes);
  for (size_t i = 0; i < batch.count; ++i)
    std::memcpy(&all[i * bytes], keys + batch.key_index[i] * bytes, bytes);
  return all;
}

Outcome compute(const DeviceOperation& operation, const BatchView& batch, ErrorText* why) {
  Request request{.op = operation.op, .scheme = find_scheme(operation.scheme), .records = batch};
  request.records.expanded = {};
  std::vector<uint8_t> keys;
  if (batch.key_index != nullptr) {
    const FieldInfo& key = key_field(operation.op);
    keys = gathered(batch, batch.*key.in, operation.record_bytes.*key.bytes);
    request.records.*key.in = keys.data();
    request.records.key_index = nullptr;
  }
  const Status status = engine().run_here(request);
  return status == Status::ok || status == Status::items ? Outcome::ok : fail(why, "the CPU failed");
}

Outcome run(const DeviceOperation& operation, const BatchView& batch, const uint8_t*, StepTimes*, ErrorText* why) {
  static std::mutex device;
  while (fault() == "stall")
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (fault() == "fail") return fail(why, "cudaErrorLaunchFailure (simulated)");
  const std::lock_guard one_at_a_time(device);
  const auto end = Clock::now() + time_of_a_batch();
  const Outcome outcome = compute(operation, batch, why);
  if (fault() == "lie") *(batch.ss_out != nullptr ? batch.ss_out : batch.pk_out) ^= 1;
  std::this_thread::sleep_until(end);
  return outcome;
}

ModuleTable table() {
  ModuleTable t{};
  t.abi = kModuleAbi;
  t.table_bytes = sizeof(ModuleTable);
  t.open = [](ErrorText*) { return Outcome::ok; };
  t.device_count = [] { return 1; };
  t.device_info = [](int) {
    DeviceInfo info{};
    std::snprintf(info.name, sizeof info.name, "Simulated device");
    return info;
  };
  t.scheme = scheme;
  t.run = run;
  t.queue = [](const DeviceOperation&, const BatchView&, const uint8_t*, std::byte*, void*, ErrorText* why) {
    return fail(why, "it has no streams");
  };
  t.queue_bytes = [](const DeviceOperation&, size_t count) { return count; };
  t.allocate = [](size_t bytes, const void*, ErrorText*) { return static_cast<std::byte*>(std::malloc(bytes)); };
  t.release = [](std::byte* memory, size_t) { std::free(memory); };
  t.expand = [](const DeviceKeyForm&, std::byte*, const uint8_t*, size_t, ErrorText*) { return Outcome::ok; };
  t.place_of = [](const void*) { return Place::pageable; };
  t.copy = [](void* to, const void* from, size_t bytes, ErrorText*) {
    std::memcpy(to, from, bytes);
    return Outcome::ok;
  };
  t.zero = [](void* memory, size_t bytes, ErrorText*) {
    std::memset(memory, 0, bytes);
    return Outcome::ok;
  };
  t.set_budget = [](size_t) {};
  t.inject = [](Fault, int) {};
  return t;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  static const ModuleTable the_table = table();
  return &the_table;
}
