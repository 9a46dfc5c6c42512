// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/backend.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "core/secure.hpp"
#include "engine/cuda/loader.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/registry.hpp"

namespace polykem::cuda {

namespace {

/// Items that one thread takes. The module overlaps the parts of a batch by itself, and a lost device's are shared.
constexpr size_t kChunk = 131072;

/// Of arrays that a GPU cannot reach each thread copies its chunk, of about so many bytes: the threads' copies and the
/// GPU's work overlap, and a copy finds its bytes in a cache. A key generation's kernels want larger chunks.
constexpr std::array<size_t, kOps> kMostStagedBytes = {8 << 20, 4 << 20, 4 << 20};
constexpr size_t kLeastStagedItems = 1024;

constexpr size_t kSlots = 64 * kOps;

/// An operation that was found in the module. Operation::run is a plain function, so each slot has one of its own.
struct Slot {
  const Scheme* scheme = nullptr;
  const DeviceOperation* device = nullptr;
  std::vector<StepInfo> steps;  ///< upload, the device's, download
};

std::array<Slot, kSlots>& slots() {
  static std::array<Slot, kSlots> all;
  return all;
}

std::atomic<size_t> moved_to_cpu{0};
std::atomic<bool> module_in_use{false};  ///< loaded_module().table is set

/// The same items on the best CPU backend, in chunks of its own.
Status run_on_cpu(const Scheme& s, Op op, const Batch& batch) {
  const auto usable = [](const SchemeBackend& candidate) {
    const auto all = backends();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& b) { return b.id == candidate.backend && backend_available(b); });
  };
  const auto backend = std::find_if(s.backends.begin(), s.backends.end(), usable);
  if (backend == s.backends.end()) return Status::backend_unavailable;
  const Operation& operation = backend->op(op);
  SecureBuffer workspace;
  if (!workspace.reserve(operation.workspace_bytes(std::min(operation.chunk, batch.count))))
    return Status::out_of_memory;
  const auto advance = [](auto*& pointer, size_t bytes) {
    if (pointer != nullptr) pointer += bytes;
  };
  Batch rest = batch;
  for (size_t left = batch.count; left > 0; left -= rest.count) {
    rest.count = std::min(operation.chunk, left);
    const Status status = operation.run(rest, workspace.data(), nullptr);
    if (status != Status::ok) return status;
    const size_t keys = batch.shared_key ? 0 : rest.count;
    advance(rest.draws, rest.count * s.draw_bytes(op));
    advance(rest.pk, keys * s.public_key_bytes);
    advance(rest.sk, keys * s.secret_key_bytes);
    advance(rest.ct, rest.count * s.ciphertext_bytes);
    advance(rest.pk_out, rest.count * s.public_key_bytes);
    advance(rest.sk_out, rest.count * s.secret_key_bytes);
    advance(rest.ct_out, rest.count * s.ciphertext_bytes);
    advance(rest.ss_out, rest.count * s.shared_secret_bytes);
    rest.item_status += rest.count;
  }
  return Status::ok;
}

Status run_slot(const Slot& slot, const Batch& batch, StepTimes* times) {
  const ModuleTable& table = *loaded_module().table;
  ModuleBatch host{.count = batch.count,
                   .shared_key = batch.shared_key,
                   .draws = batch.draws,
                   .seed = {},
                   .pk = batch.pk,
                   .sk = batch.sk,
                   .ct = batch.ct,
                   .pk_out = batch.pk_out,
                   .sk_out = batch.sk_out,
                   .ct_out = batch.ct_out,
                   .ss_out = batch.ss_out,
                   .key_index = batch.key_index};
  if (batch.draws == nullptr && slot.device->record_bytes.draws > 0) batch.drbg->fill(host.seed);
  ErrorText why{};
  const Outcome outcome = table.run(*slot.device, host, times, &why);
  secure_zero(host.seed, sizeof host.seed);
  if (outcome == Outcome::ok) return Status::ok;
  set_backend_problem(BackendId::cuda, why.text);
  for (const void* array : {static_cast<const void*>(batch.draws), static_cast<const void*>(batch.pk),
                            static_cast<const void*>(batch.sk), static_cast<const void*>(batch.ct),
                            static_cast<const void*>(batch.pk_out), static_cast<const void*>(batch.sk_out),
                            static_cast<const void*>(batch.ct_out), static_cast<const void*>(batch.ss_out)}) {
    if (array == nullptr || !table.on_device(array)) continue;
    return outcome == Outcome::out_of_memory ? Status::out_of_memory : Status::backend_unavailable;
  }
  moved_to_cpu.fetch_add(1, std::memory_order_relaxed);
  return run_on_cpu(*slot.scheme, slot.device->op, batch);
}

template <size_t kSlot>
size_t workspace_bytes(size_t) {
  return 64;
}

template <size_t kSlot>
Status run(const Batch& batch, std::byte*, StepTimes* times) {
  return run_slot(slots()[kSlot], batch, times);
}

using Run = Status (*)(const Batch&, std::byte*, StepTimes*);

template <size_t... kSlot>
constexpr std::array<Run, sizeof...(kSlot)> run_functions(std::index_sequence<kSlot...>) {
  return {run<kSlot>...};
}

constexpr auto kRuns = run_functions(std::make_index_sequence<kSlots>());

bool covers_each_stage_once(std::span<const StepInfo> steps, size_t stages) {
  size_t next = 0;
  for (const StepInfo& step : steps) {
    if (step.first != next || step.count == 0) return false;
    next += step.count;
  }
  return next == stages;
}

Operation make_operation(size_t index, const Scheme& scheme, const DeviceOperation& device) {
  Slot& slot = slots()[index];
  const auto stages = scheme.backends.front().op(device.op).stages;
  slot.scheme = &scheme;
  slot.device = &device;
  slot.steps.push_back({"upload", 0, 0});
  slot.steps.insert(slot.steps.end(), device.steps.begin(), device.steps.end());
  slot.steps.push_back({"download", static_cast<uint8_t>(stages.size()), 0});
  return {stages, slot.steps, kChunk, kChunk, workspace_bytes<0>, kRuns[index]};
}

/// The module's operations of one set; false if it lacks one or describes it otherwise than this library does.
bool make_backend(size_t first_slot, const Scheme& scheme, SchemeBackend& out) {
  out.backend = BackendId::cuda;
  for (size_t i = 0; i < kOps; ++i) {
    const auto op = static_cast<Op>(i);
    const DeviceOperation* device = loaded_module().table->operation(scheme.name, op);
    if (device == nullptr || !covers_each_stage_once(device->steps, scheme.backends.front().op(op).stages.size()))
      return false;
    const RecordBytes& bytes = device->record_bytes;
    if (bytes.pk != scheme.public_key_bytes || bytes.sk != scheme.secret_key_bytes ||
        bytes.ct != scheme.ciphertext_bytes || bytes.ss != scheme.shared_secret_bytes ||
        bytes.draws != scheme.draw_bytes(op)) {
      return false;
    }
    out.ops[i] = make_operation(first_slot + i, scheme, *device);
  }
  return true;
}

using Backends = std::vector<std::pair<const Scheme*, SchemeBackend>>;

Backends collect() {
  Backends all;
  if (loaded_module().table == nullptr) return all;
  module_in_use.store(true, std::memory_order_release);
  size_t slot = 0;
  for (const Scheme* scheme : registry()) {
    SchemeBackend backend{};
    if (slot + kOps > kSlots || !make_backend(slot, *scheme, backend)) continue;
    all.emplace_back(scheme, backend);
    slot += kOps;
  }
  return all;
}

struct Array {
  const void* data;
  size_t item_bytes;  ///< of it that each item has for itself
};

std::array<Array, 8> arrays_of(const Request& r) {
  const Scheme& s = *r.scheme;
  return {{{r.pk, r.shared_key ? 0 : s.public_key_bytes},
           {r.sk, r.shared_key ? 0 : s.secret_key_bytes},
           {r.ct, s.ciphertext_bytes},
           {r.draws, s.draw_bytes(r.op)},
           {r.pk_out, s.public_key_bytes},
           {r.sk_out, s.secret_key_bytes},
           {r.ct_out, s.ciphertext_bytes},
           {r.ss_out, s.shared_secret_bytes}}};
}

/// Bytes of an item that the host must copy for the GPU.
size_t staged_bytes(const Request& request) {
  size_t total = 0;
  for (const Array& array : arrays_of(request)) {
    if (array.data != nullptr && !loaded_module().table->reachable(array.data)) total += array.item_bytes;
  }
  return total;
}

bool probe() {
  const LoadedModule& module = loaded_module();
  if (module.table == nullptr) set_backend_problem(BackendId::cuda, module.problem.c_str());
  return module.table != nullptr;
}

[[maybe_unused]] const bool kProbeSet = (set_cuda_probe(probe), true);

}  // namespace

const SchemeBackend* backend_for(const Scheme& scheme) {
  static const Backends all = collect();
  for (const auto& [known, backend] : all) {
    if (known == &scheme) return &backend;
  }
  return nullptr;
}

size_t chunk_items(const Request& request, unsigned threads) {
  const size_t bytes = threads == 1 ? 0 : staged_bytes(request);
  if (bytes == 0) return kChunk;
  const size_t share = (request.count + threads - 1) / threads;
  const size_t most = kMostStagedBytes[static_cast<size_t>(request.op)] / bytes;
  return std::clamp((std::min(share, most) + 63) / 64 * 64, kLeastStagedItems, kChunk);
}

Status queue(const Request& request, Drbg& drbg, void* workspace, void* stream) {
  const SchemeBackend* backend = backend_for(*request.scheme);
  if (backend == nullptr) return Status::backend_unavailable;
  const ModuleTable& table = *loaded_module().table;
  const DeviceOperation& operation = *table.operation(request.scheme->name, request.op);
  ModuleBatch batch{.count = request.count,
                    .shared_key = request.shared_key,
                    .draws = request.draws,
                    .seed = {},
                    .pk = request.pk,
                    .sk = request.sk,
                    .ct = request.ct,
                    .pk_out = request.pk_out,
                    .sk_out = request.sk_out,
                    .ct_out = request.ct_out,
                    .ss_out = request.ss_out,
                    .key_index = nullptr};
  if (request.draws == nullptr && operation.record_bytes.draws > 0) {
    const Status status = drbg.prepare();
    if (status != Status::ok) return status;
    drbg.fill(batch.seed);
  }
  ErrorText why{};
  const Outcome outcome = table.queue(operation, batch, static_cast<std::byte*>(workspace), stream, &why);
  secure_zero(batch.seed, sizeof batch.seed);
  if (outcome == Outcome::ok) return Status::ok;
  set_backend_problem(BackendId::cuda, why.text);
  return outcome == Outcome::out_of_memory ? Status::out_of_memory : Status::backend_unavailable;
}

Status queue_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes) {
  if (backend_for(scheme) == nullptr) return Status::backend_unavailable;
  const ModuleTable& table = *loaded_module().table;
  bytes = table.queue_bytes(*table.operation(scheme.name, op), count);
  return Status::ok;
}

bool has_device_arrays(const Request& request) {
  if (!module_in_use.load(std::memory_order_acquire)) return false;
  const auto arrays = arrays_of(request);
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const Array& a) { return a.data != nullptr && loaded_module().table->on_device(a.data); });
}

bool zero_if_on_device(void* memory, size_t bytes) {
  if (!module_in_use.load(std::memory_order_acquire)) return false;
  const ModuleTable& table = *loaded_module().table;
  return table.on_device(memory) && (table.zero(memory, bytes, nullptr), true);
}

size_t chunks_moved_to_cpu() {
  return moved_to_cpu.load(std::memory_order_relaxed);
}

}  // namespace polykem::cuda
