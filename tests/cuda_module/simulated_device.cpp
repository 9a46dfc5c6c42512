// SPDX-License-Identifier: Apache-2.0
// A CUDA module without a GPU that computes correct results on this machine's CPU. Batches run one after the other and
// take a millisecond each. It serves to test servers that use a device: POLYKEM_CUDA_MODULE names this file, and
// POLYKEM_BACKEND=cuda uses it for everything.
//
//   SIMULATED_DEVICE_US      the time that a batch takes, 1000 if it is not set
//   SIMULATED_DEVICE_OPEN_MS how long the device takes to open, 0 if it is not set
//   SIMULATED_DEVICE_EXIT_MS how long after the begin of that its driver registers the handler at exit, 0 if not set
//   SIMULATED_DEVICE_FAULT   a file whose first word names the present fault: "stall" (batches wait until the word
//                            changes), "fail" (the device is lost), "lie" (one wrong bit in each batch, except of
//                            verifications)
//
// Memory from simulated_device_allocate() counts as the device's. A queued batch is computed at once, whatever the
// stream, and the last stream is recorded. simulated_device_longest_message() returns the longest message that was
// hashed.
//
// At exit the device is torn down like a GPU's driver: a thread that is inside then ends the process with status 99.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "accelerators/cuda/module/exit_gate.hpp"
#include "accelerators/cuda/module/interface_hash.hpp"
#include "accelerators/cuda/module/module.hpp"
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

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

std::atomic<bool> torn_down{false};

/// The driver's work until then.
void work_until(Clock::time_point end) {
  while (Clock::now() < end) {
    if (torn_down) std::_Exit(99);
    std::this_thread::sleep_for(std::min<Clock::duration>(end - Clock::now(), std::chrono::milliseconds(1)));
  }
}

Outcome open(ErrorText*) {
  const DriverCall call;
  if (!call.allowed()) return Outcome::kFailed;
  exit_gate.stay_first_during([] {
    const auto begun = Clock::now();
    work_until(begun + std::chrono::milliseconds(number("SIMULATED_DEVICE_EXIT_MS", 0)));
    static const int registered = std::atexit([] {
      torn_down = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // so that a thread inside notices
    });
    if (registered == 0) work_until(begun + std::chrono::milliseconds(number("SIMULATED_DEVICE_OPEN_MS", 0)));
  });
  return Outcome::kOk;
}

Outcome fail(ErrorText* why, const char* text) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", text);
  return Outcome::kFailed;
}

/// An engine of the module's own, which uses no threads and no accelerator.
Engine& engine() {
  static Engine* const only = [] {  // never destroyed
    std::unique_ptr<Engine> made;
    for (const BackendDescription& backend : cpu_backends())
      if (Engine::create({.threads = 1, .backend = backend.name, .accelerators = {}}, made) == Status::kOk) break;
    return made.release();
  }();
  return *only;
}

/// One step that covers everything, for each operation of each set.
struct Described {
  explicit Described(const Scheme& scheme) {
    for (size_t i = 0; i < kOpCount; ++i) {
      const Op op = static_cast<Op>(i);
      if (!scheme.has(op)) continue;
      steps[i] = {{"everything", 0, static_cast<uint8_t>(scheme.stages.of(op).size())}, 0, 0};
      DeviceOperation& operation = set.operations[i];
      operation.scheme = scheme.name;
      operation.op = op;
      operation.record_bytes = scheme.record_bytes(op);
      operation.steps = {&steps[i], 1};
      operation.part_items = 8192;
      operation.staged_bytes = size_t{1} << 30;
      operation.min_items = 64;
      operation.max_items = 1 << 30;
    }
    set.name = scheme.name;
    set.hash_of_key_at = scheme.is_signature() ? 64 : 0;  // [FIPS204, Alg 24]
  }
  DeviceStep steps[kOpCount]{};
  DeviceScheme set{};
};

const DeviceScheme* scheme(const char* name) {
  static const auto* const all = [] {  // never destroyed
    auto* const sets = new std::vector<std::unique_ptr<Described>>;
    for (const auto& list : {registry(), signature_registry()}) {
      for (const Scheme* s : list)
        sets->push_back(std::make_unique<Described>(*s));
    }
    return sets;
  }();
  for (const auto& described : *all)
    if (std::strcmp(described->set.name, name) == 0) return &described->set;
  return nullptr;
}

/// Returns the keys of the items, side by side.
std::vector<uint8_t> gathered(const BatchView& batch, const uint8_t* keys, size_t bytes) {
  std::vector<uint8_t> all(batch.count * bytes);
  for (size_t i = 0; i < batch.count; ++i)
    std::memcpy(&all[i * bytes], keys + batch.key_index[i] * bytes, bytes);
  return all;
}

const Scheme* set_of(const DeviceOperation& operation) {
  const Scheme* kem = find_scheme(operation.scheme);
  return kem != nullptr ? kem : find_signature(operation.scheme);
}

std::atomic<size_t> longest_message{0};  ///< of those that are not mu

void note_messages(const BatchView& batch) {
  if (batch.message.kind == MessageKind::kMu) return;
  for (size_t i = 0; i < batch.count; ++i)
    longest_message = std::max(longest_message.load(), batch.message.strings.at(i).size());
}

Outcome compute(const DeviceOperation& operation, const BatchView& batch, ErrorText* why) {
  note_messages(batch);
  Request request{.op = operation.op, .scheme = set_of(operation), .records = batch};
  request.records.expanded = {};
  std::vector<uint8_t> keys;
  if (batch.key_index != nullptr) {
    const FieldInfo& key = key_field(operation.op);
    keys = gathered(batch, batch.*key.in, operation.record_bytes.*key.bytes);
    request.records.*key.in = keys.data();
    request.records.key_index = nullptr;
  }
  const Status status = engine().run_here(request);
  return status == Status::kOk || status == Status::kItems ? Outcome::kOk : fail(why, "the CPU failed");
}

/// Changes a bit of the first result.
void lie(const BatchView& batch) {
  for (uint8_t* results : {batch.ss_out, batch.pk_out, batch.ct_out, batch.sig_out}) {
    if (results == nullptr) continue;
    *results ^= 1;
    return;
  }
}

Outcome run(const DeviceOperation& operation, const BatchView& batch, const uint8_t*, StepTimes*, ErrorText* why) {
  static std::mutex device;
  const DriverCall call;
  if (!call.allowed()) return fail(why, "the process ends");
  while (fault() == "stall")
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (fault() == "fail") return fail(why, "cudaErrorLaunchFailure (simulated)");
  const std::lock_guard one_at_a_time(device);
  const auto end = Clock::now() + std::chrono::microseconds(number("SIMULATED_DEVICE_US", 1000));
  const Outcome outcome = compute(operation, batch, why);
  if (fault() == "lie") lie(batch);
  work_until(end);
  return outcome;
}

/// The blocks of memory that count as the device's, by address.
struct DeviceMemory {
  std::mutex mutex;
  std::map<std::uintptr_t, size_t> bytes;
  void* last_stream = nullptr;
};

DeviceMemory& device_memory() {
  static DeviceMemory only;
  return only;
}

MemoryKind memory_kind_of(const void* pointer) {
  DeviceMemory& memory = device_memory();
  const std::lock_guard lock(memory.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto after = memory.bytes.upper_bound(address);
  if (after == memory.bytes.begin()) return MemoryKind::kPageable;
  --after;
  return address < after->first + after->second ? MemoryKind::kDevice : MemoryKind::kPageable;
}

Outcome queue(const DeviceOperation& operation, const BatchView& batch, const uint8_t*, std::byte* workspace,
              void* stream, ErrorText* why) {
  device_memory().last_stream = stream;
  std::memset(workspace, 0, batch.count);
  return compute(operation, batch, why);
}

ModuleTable table() {
  ModuleTable t{};
  t.interface_hash = kInterfaceHash;
  t.table_bytes = sizeof(ModuleTable);
  t.open = open;
  t.device_count = [] { return 1; };
  t.device_info = [](int) {
    DeviceInfo info{};
    std::snprintf(info.name, sizeof info.name, "Simulated device");
    return info;
  };
  t.scheme = scheme;
  t.run = run;
  t.queue = queue;
  t.queue_workspace_bytes = [](const DeviceOperation&, size_t count) { return count; };
  t.allocate = [](size_t bytes, const void*, ErrorText*) { return static_cast<std::byte*>(std::malloc(bytes)); };
  t.release = [](std::byte* memory, size_t) { std::free(memory); };
  t.expand = [](const DeviceExpandedKeyFormat&, std::byte*, const uint8_t*, size_t, ErrorText*) {
    return Outcome::kOk;
  };
  t.memory_kind_of = memory_kind_of;
  t.copy = [](void* to, const void* from, size_t bytes, ErrorText*) {
    std::memcpy(to, from, bytes);
    return Outcome::kOk;
  };
  t.zero = [](void* memory, size_t bytes, ErrorText*) {
    std::memset(memory, 0, bytes);
    return Outcome::kOk;
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

extern "C" __attribute__((visibility("default"))) void* simulated_device_allocate(size_t bytes) {
  DeviceMemory& memory = device_memory();
  void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  const std::lock_guard lock(memory.mutex);
  memory.bytes[reinterpret_cast<std::uintptr_t>(block)] = bytes;
  return block;
}

extern "C" __attribute__((visibility("default"))) void simulated_device_release(void* block) {
  DeviceMemory& memory = device_memory();
  const std::lock_guard lock(memory.mutex);
  memory.bytes.erase(reinterpret_cast<std::uintptr_t>(block));
  std::free(block);
}

extern "C" __attribute__((visibility("default"))) size_t simulated_device_longest_message() {
  return longest_message;
}

extern "C" __attribute__((visibility("default"))) void* simulated_device_last_stream() {
  return device_memory().last_stream;
}
