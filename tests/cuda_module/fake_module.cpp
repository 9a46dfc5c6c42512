// SPDX-License-Identifier: Apache-2.0
// A module without a GPU behind it: it describes the operations of one set of a family, FAKE_CUDA_SET (ntruhps2048509
// if that is not set), and then fails as FAKE_CUDA says.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "accelerators/cuda/module/interface_hash.hpp"
#include "accelerators/cuda/module/module.hpp"
#include "schemes/frodo/params.hpp"
#include "schemes/frodo/stages.hpp"
#include "schemes/lac/params.hpp"
#include "schemes/lac/stages.hpp"
#include "schemes/mldsa/params.hpp"
#include "schemes/mldsa/stages.hpp"
#include "schemes/mlkem/params.hpp"
#include "schemes/mlkem/stages.hpp"
#include "schemes/ntru/params.hpp"
#include "schemes/ntru/stages.hpp"
#include "schemes/saber/params.hpp"
#include "schemes/saber/stages.hpp"

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
  if (mode() == "no_gpu") return fail(why, "looking for GPUs: cudaErrorNoDevice (simulated)", Outcome::kFailed);
  return Outcome::kOk;
}

/// The module's description of a set.
struct Described {
  const char* name;
  RecordBytes bytes;    ///< of keygen
  size_t second_coins;  ///< of encaps or sign
  OpStages stages;
};

constexpr ntru::NtruParams kNtru = ntru::kHps2048509;
constexpr frodo::Set kFrodo = frodo::kSets[1];
constexpr Described kDescribed[] = {
    {"ntruhps2048509",
     {kNtru.public_key_bytes(), kNtru.secret_key_bytes(), kNtru.ciphertext_bytes(), 32, kNtru.keygen_coin_bytes()},
     kNtru.encaps_coin_bytes(),
     ntru::kStages},
    {"mlkem768",
     {mlkem::kDims768.public_key_bytes(), mlkem::kDims768.secret_key_bytes(), mlkem::kDims768.ciphertext_bytes(), 32,
      mlkem::kKeygenCoinBytes},
     mlkem::kEncapsCoinBytes,
     mlkem::kStages},
    {kFrodo.name,
     {kFrodo.public_key_bytes(), kFrodo.secret_key_bytes(), kFrodo.ciphertext_bytes(), kFrodo.p.secret_bytes,
      kFrodo.keygen_coin_bytes()},
     kFrodo.encaps_coin_bytes(),
     frodo::kStages},
    {"saber",
     {saber::kSaber.public_key_bytes(), saber::kSaber.secret_key_bytes(), saber::kSaber.ciphertext_bytes(), 32,
      saber::kKeygenCoinBytes},
     saber::kEncapsCoinBytes,
     saber::kStages},
    {lac::kLac128.name,
     {lac::kLac128.public_key_bytes(), lac::kLac128.secret_key_bytes(), lac::kLac128.ciphertext_bytes(),
      lac::kSeedBytes, lac::kSeedBytes},
     lac::kSeedBytes,
     lac::kStages},
    {"mldsa44",
     {mldsa::kMldsa44.public_key_bytes(), mldsa::kMldsa44.secret_key_bytes(), 0, 0, mldsa::kSeedBytes,
      mldsa::kMldsa44.signature_bytes()},
     mldsa::kSeedBytes,
     {mldsa::kKeygenStages, {}, {}, mldsa::kSignStages, mldsa::kVerifyStages}},
};

const Described& described() {
  const char* name = std::getenv("FAKE_CUDA_SET");
  for (const Described& set : kDescribed)
    if (name != nullptr && std::strcmp(name, set.name) == 0) return set;
  return kDescribed[0];
}

DeviceOperation make(Op op) {
  static std::array<DeviceStep, kOpCount> steps;
  const Described& set = described();
  DeviceStep& step = steps[static_cast<size_t>(op)];
  step = {{"everything", 0, static_cast<uint8_t>(set.stages.of(op).size())}, 0, 0};
  DeviceOperation result{};
  result.scheme = set.name;
  result.op = op;
  result.record_bytes = set.bytes;
  if (op == Op::kEncaps || op == Op::kSign) result.record_bytes.coins = set.second_coins;
  if (op == Op::kDecaps || op == Op::kVerify) result.record_bytes.coins = 0;
  if (mode() == "wrong_sizes") result.record_bytes.sk -= 1;
  if (mode() == "wrong_steps") step.info.count -= 1;
  result.steps = {&step, 1};
  result.part_items = 8192;
  result.staged_bytes = size_t{4} << 20;
  result.min_items = 64;
  result.max_items = 1 << 30;
  return result;
}

/// In the mode expanded_keys two keys of a set are kept expanded, for batches with one of them.
DeviceExpandedKeyFormat expanded_key_format() {
  if (mode() != "expanded_keys") return {};
  return {.bytes = 64, .max_keys = 2, .shared_only = true};
}

const DeviceScheme* scheme(const char* name) {
  static const DeviceScheme set{
      described().name,
      {make(Op::kKeygen), make(Op::kEncaps), make(Op::kDecaps), make(Op::kSign), make(Op::kVerify)},
      {},
      expanded_key_format()};
  return std::strcmp(name, set.name) == 0 ? &set : nullptr;
}

Outcome run(const DeviceOperation& operation, const BatchView& batch, const uint8_t*, StepTimes*, ErrorText* why) {
  // A broken device leaves garbage in the outputs, which no caller may see.
  if (batch.ss_out != nullptr) std::memset(batch.ss_out, 0xee, batch.count * operation.record_bytes.ss);
  if (mode() == "expanded_keys") {  // the first byte of the secrets tells whether the key was expanded
    if (batch.ss_out != nullptr) batch.ss_out[0] = batch.expanded.data != nullptr ? 1 : 0;
    return Outcome::kOk;
  }
  if (mode() == "tune_fast") return Outcome::kOk;
  for (size_t i = 0; i < batch.count && batch.item_status != nullptr; ++i)
    batch.item_status[i] = Status::kSecretKey;
  if (mode() == "tune_slow") {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Outcome::kOk;
  }
  if (mode() == "run_no_memory") return fail(why, "cudaErrorMemoryAllocation (simulated)", Outcome::kOutOfMemory);
  return fail(why, "cudaErrorLaunchFailure (simulated)", Outcome::kFailed);
}

Outcome queue(const DeviceOperation&, const BatchView&, const uint8_t*, std::byte*, void*, ErrorText* why) {
  return fail(why, "cudaErrorLaunchFailure (simulated)", Outcome::kFailed);
}

std::byte* allocate(size_t bytes, const void*, ErrorText*) {
  return mode() == "keys_no_memory" ? nullptr : static_cast<std::byte*>(std::malloc(bytes));
}

Outcome copy(void* to, const void* from, size_t bytes, ErrorText*) {
  std::memcpy(to, from, bytes);
  return Outcome::kOk;
}

Outcome zero(void* memory, size_t bytes, ErrorText*) {
  std::memset(memory, 0, bytes);
  return Outcome::kOk;
}

ModuleTable table() {
  ModuleTable t{};
  t.interface_hash = mode() == "other_version" ? kInterfaceHash + 1 : kInterfaceHash;
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
  t.queue_workspace_bytes = [](const DeviceOperation&, size_t count) { return count; };
  t.allocate = allocate;
  t.release = [](std::byte* memory, size_t) { std::free(memory); };
  t.expand = [](const DeviceExpandedKeyFormat&, std::byte*, const uint8_t*, size_t, ErrorText*) {
    return Outcome::kOk;
  };
  t.memory_kind_of = [](const void*) { return MemoryKind::kPageable; };
  t.copy = copy;
  t.zero = zero;
  t.set_budget = [](size_t) {};
  t.choose_kernels = [](KernelChoice) {};
  t.inject = [](Fault, int) {};
  return t;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  static const ModuleTable the_table = table();
  return &the_table;
}
