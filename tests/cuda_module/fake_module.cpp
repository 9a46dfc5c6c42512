// SPDX-License-Identifier: Apache-2.0
// A module without a GPU behind it: it describes the operations of ntruhps2048509 and then fails as FAKE_CUDA says.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "cuda_module/module.hpp"
#include "schemes/ntru/params.hpp"
#include "schemes/ntru/stages.hpp"

namespace {

using namespace polykem;
using namespace polykem::cuda;

std::string mode() {
  const char* text = std::getenv("FAKE_CUDA");
  return text == nullptr ? "" : text;
}

Outcome fail(ErrorText* why, const char* text, Outcome outcome) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", text);
  return outcome;
}

Outcome open(ErrorText* why) {
  if (mode() == "no_gpu") return fail(why, "looking for GPUs: cudaErrorNoDevice (simulated)", Outcome::failed);
  return Outcome::ok;
}

constexpr ntru::NtruParams kParams = ntru::kHps2048509;

constexpr DeviceStep whole(size_t stages) {
  return {{"everything", 0, static_cast<uint8_t>(stages)}, 0, 0};
}

std::array<DeviceStep, kOps> steps = {whole(ntru::kKeygenStages.size()), whole(ntru::kEncapsStages.size()),
                                      whole(ntru::kDecapsStages.size())};

DeviceOperation make(Op op) {
  const size_t draws = op == Op::keygen   ? kParams.keygen_draw_bytes()
                       : op == Op::encaps ? kParams.encaps_draw_bytes()
                                          : 0;
  DeviceOperation result{};
  result.scheme = "ntruhps2048509";
  result.op = op;
  result.record_bytes = {kParams.public_key_bytes(), kParams.secret_key_bytes(), kParams.ciphertext_bytes(), 32, draws};
  if (mode() == "wrong_sizes") result.record_bytes.sk -= 1;
  if (mode() == "wrong_steps") steps[static_cast<size_t>(op)].info.count -= 1;
  result.steps = {&steps[static_cast<size_t>(op)], 1};
  result.part_items = 8192;
  result.staged_bytes = size_t{4} << 20;
  result.least_items = 64;
  result.most_items = 1 << 30;
  return result;
}

const DeviceScheme* scheme(const char* name) {
  static const DeviceScheme set{"ntruhps2048509", {make(Op::keygen), make(Op::encaps), make(Op::decaps)}};
  return std::strcmp(name, set.name) == 0 ? &set : nullptr;
}

Outcome run(const DeviceOperation&, const BatchView& batch, const uint8_t*, StepTimes*, ErrorText* why) {
  // A broken device leaves garbage in the outputs, which no caller may see.
  if (batch.ss_out != nullptr) std::memset(batch.ss_out, 0xee, batch.count * 32);
  if (mode() == "tune_fast") return Outcome::ok;
  if (mode() == "tune_slow") {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Outcome::ok;
  }
  if (mode() == "run_no_memory") return fail(why, "cudaErrorMemoryAllocation (simulated)", Outcome::out_of_memory);
  return fail(why, "cudaErrorLaunchFailure (simulated)", Outcome::failed);
}

Outcome queue(const DeviceOperation&, const BatchView&, const uint8_t*, std::byte*, void*, ErrorText* why) {
  return fail(why, "cudaErrorLaunchFailure (simulated)", Outcome::failed);
}

std::byte* allocate(size_t bytes, const void*, ErrorText*) {
  return mode() == "keys_no_memory" ? nullptr : static_cast<std::byte*>(std::malloc(bytes));
}

Outcome copy(void* to, const void* from, size_t bytes, ErrorText*) {
  std::memcpy(to, from, bytes);
  return Outcome::ok;
}

Outcome zero(void* memory, size_t bytes, ErrorText*) {
  std::memset(memory, 0, bytes);
  return Outcome::ok;
}

ModuleTable table() {
  ModuleTable t{};
  t.abi = mode() == "other_version" ? kModuleAbi + 1 : kModuleAbi;
  t.table_bytes = sizeof(ModuleTable);
  t.open = open;
  t.device_count = [] { return 1; };
  t.device_info = [](int) {
    DeviceInfo info{};
    std::snprintf(info.name, sizeof info.name, "%s", mode() == "other_gpu" ? "Another GPU" : "Fake GPU");
    return info;
  };
  t.scheme = scheme;
  t.run = run;
  t.queue = queue;
  t.queue_bytes = [](const DeviceOperation&, size_t count) { return count; };
  t.allocate = allocate;
  t.release = [](std::byte* memory, size_t) { std::free(memory); };
  t.expand = [](const DeviceKeyForm&, std::byte*, const uint8_t*, size_t, ErrorText*) { return Outcome::ok; };
  t.place_of = [](const void*) { return Place::pageable; };
  t.copy = copy;
  t.zero = zero;
  t.set_budget = [](size_t) {};
  t.inject = [](Fault, int) {};
  return t;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  static const ModuleTable the_table = table();
  return &the_table;
}
