// SPDX-License-Identifier: Apache-2.0
// The host side of libpolykem_cuda.so: an Accelerator that calls the module's table.
#include "accelerators/cuda/accelerator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "accelerators/cuda/loader.hpp"
#include "core/secure.hpp"
#include "engine/static_text.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/drbg/fork_generation.hpp"
#include "schemes/registry.hpp"

namespace polykem::cuda {

namespace {

/// Bytes of records in a chunk. The module itself cuts a chunk into parts; if a device is lost, the CPUs share its
/// chunks.
constexpr size_t kChunkBytes = size_t{512} << 20;

/// The crossover until it is measured, with a margin for small GPUs.
constexpr size_t kGuessedCrossover = 256;

/// Longer messages are hashed by the CPU. On a GPU one thread hashes a message, and other batches wait; docs/adr/0022
/// has the rates.
constexpr size_t kLongestHashedByGpu = size_t{4} << 20;

constexpr BackendDescription kDescription = {
    "cuda", "batches on NVIDIA GPUs, a key of its own for every client",
    "an NVIDIA GPU of compute capability 7.5 or newer, its driver for CUDA 13, and libpolykem_cuda.so"};

class CudaAccelerator;

/// One operation of a set: what Operation::context points to.
struct OperationContext {
  CudaAccelerator* accelerator = nullptr;
  const Scheme* scheme = nullptr;
  const DeviceOperation* device = nullptr;
  size_t hash_of_key_at = 0;    ///< of DeviceScheme
  std::vector<StepInfo> steps;  ///< upload, the steps on the device, download
};

/// A parameter set of the module.
struct SchemeContext {
  const Scheme* scheme = nullptr;
  const DeviceScheme* device = nullptr;
  std::array<OperationContext, kOpCount> operations;
  SchemeBackend backend{};
};

class CudaKeys final : public KeyMemory {
 public:
  CudaKeys(CudaAccelerator& accelerator, const DeviceExpandedKeyFormat& format, size_t count, size_t record_bytes)
      : accelerator_(accelerator), format_(format), count_(count), bytes_(count * record_bytes) {}
  ~CudaKeys() override;

  bool allocate();
  uint8_t* records() override { return reinterpret_cast<uint8_t*>(records_); }
  Status fill(const uint8_t* records) override;
  void expand() override;
  ExpandedKeys expanded(bool shared) const override {
    if (format_.shared_only && !shared) return {};
    return {.data = expanded_, .bytes = format_.bytes};
  }

 private:
  CudaAccelerator& accelerator_;
  const DeviceExpandedKeyFormat format_;
  const size_t count_, bytes_;
  std::byte *records_ = nullptr, *expanded_ = nullptr;
};

class CudaAccelerator final : public Accelerator {
 public:
  CudaAccelerator() : Accelerator(kDescription, "crossover", kGuessedCrossover) {}

  bool available() override { return table() != nullptr; }
  std::string missing_files() override { return missing_module(); }
  bool may_be_available() override { return is_ours() && accept(loaded_module()) != nullptr; }
  std::string devices() override {
    std::string names = std::to_string(table()->device_count()) + " x " + table()->device_info(0).name;
    for (int i = 1; i < table()->device_count(); ++i) {
      const std::string other = table()->device_info(i).name;
      if (other != table()->device_info(i - 1).name) names += ", from number " + std::to_string(i) + " on " + other;
    }
    return names;
  }
  const char* problem() override { return problem_.load(); }

  const SchemeBackend* backend_for(const Scheme& scheme) override {
    const SchemeContext* found = find(scheme);
    return found == nullptr ? nullptr : &found->backend;
  }
  size_t chunk_items(const Scheme& scheme, Op op, const BatchView& batch, unsigned threads) override;

  Owner owner_of(const void* pointer) override;
  void zero(void* memory, size_t bytes) override { (void)table()->zero(memory, bytes, nullptr); }
  std::unique_ptr<KeyMemory> place_keys(const Scheme& scheme, KeyKind kind, size_t count) override;

  Status queue_workspace_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes) override;
  Status queue(const Scheme& scheme, Op op, const Batch& batch, void* workspace, void* stream) override;

  /// The module; nullptr if there is none, and in a fork of the process that opened the devices.
  const ModuleTable* table();
  Status run(const OperationContext& own, const Batch& batch, StepTimes* times);
  /// Stores the driver's error text.
  Status status_of(Outcome outcome, const ErrorText& why);

 private:
  Status run_module(const OperationContext& own, const Batch& batch, StepTimes* times);
  Status run_from_mu(const OperationContext& own, Batch one, StepTimes* times);
  Status hash_message(const OperationContext& own, const Batch& one, uint8_t* mu);
  template <class Call>
  Status with_seed(const DeviceOperation& operation, const Batch& batch, Call&& call);
  bool is_ours();
  const ModuleTable* accept(const LoadedModule& module);
  const SchemeContext* find(const Scheme& scheme);
  bool bind(const Scheme& scheme, const DeviceScheme& device, SchemeContext& out);
  void bind_all();

  std::atomic<const char*> problem_{""};
  std::atomic<const ModuleTable*> in_use_{nullptr};  ///< set once the module has opened its devices
  std::atomic<uint64_t> process_{0};                 ///< the process that began to open them
  std::mutex mutex_;  ///< not std::call_once: an exception cannot leave it without allocating memory
  bool bound_ = false;
  std::vector<std::unique_ptr<SchemeContext>> schemes_;
};

/// Only the process that began to load the module may use it, because a child might wait for a lock that its parent
/// held.
bool CudaAccelerator::is_ours() {
  const uint64_t process = ForkGeneration::of_process();
  uint64_t opener = 0;
  if (process_.compare_exchange_strong(opener, process) || opener == process) return true;
  problem_.store("the GPU was opened before this process was forked; only the parent can use it");
  return false;
}

const ModuleTable* CudaAccelerator::accept(const LoadedModule& module) {
  if (module.table == nullptr) problem_.store(static_text(module.problem));
  return module.table;
}

const ModuleTable* CudaAccelerator::table() {
  if (!is_ours()) return nullptr;
  if (const ModuleTable* used = in_use_.load(std::memory_order_acquire); used != nullptr) return used;
  const ModuleTable* const opened = accept(opened_module());
  in_use_.store(opened, std::memory_order_release);
  return opened;
}

// ---- operations

Status CudaAccelerator::status_of(Outcome outcome, const ErrorText& why) {
  if (outcome == Outcome::kOk) return Status::kOk;
  try {
    problem_.store(static_text(why.text));
  } catch (const std::bad_alloc&) {  // the status says everything
  }
  switch (outcome) {
    case Outcome::kOutOfMemory:
      return Status::kOutOfMemory;
    case Outcome::kRefused:
      return Status::kArgument;
    default:
      return Status::kBackendUnavailable;
  }
}

/// Calls call(seed, why). A seed is made if the operation needs coins that the batch lacks, and is zeroized afterwards.
template <class Call>
Status CudaAccelerator::with_seed(const DeviceOperation& operation, const Batch& batch, Call&& call) {
  uint8_t seed[kSeedBytes] = {};
  if (batch.makes_coins() && operation.record_bytes.coins > 0) batch.drbg->fill(seed);
  ErrorText why{};
  const Outcome outcome = call(seed, &why);
  zeroize(seed, sizeof seed);
  return status_of(outcome, why);
}

/// Items with long messages are computed one by one, from mu; what is between them, together.
Status CudaAccelerator::run(const OperationContext& own, const Batch& batch, StepTimes* times) {
  const Messages& messages = batch.message;
  if (messages.kind == MessageKind::kMu || messages.strings.bytes(batch.count) <= kLongestHashedByGpu)
    return run_module(own, batch, times);
  const auto items = [&](size_t first, size_t end) {
    return Batch{batch.slice(own.device->record_bytes, first, end - first), batch.drbg};
  };
  Status status = Status::kOk;
  size_t done = 0;
  for (size_t i = 0; i < batch.count; ++i) {
    if (messages.strings.at(i).size() <= kLongestHashedByGpu) continue;
    if (done < i) status = run_module(own, items(done, i), times);
    if (status == Status::kOk) status = run_from_mu(own, items(i, i + 1), times);
    if (status != Status::kOk) return status;
    done = i + 1;
  }
  return done == batch.count ? Status::kOk : run_module(own, items(done, batch.count), times);
}

Status CudaAccelerator::run_module(const OperationContext& own, const Batch& batch, StepTimes* times) {
  const ModuleTable* module = table();
  if (module == nullptr) return Status::kBackendUnavailable;
  return with_seed(*own.device, batch, [&](const uint8_t* seed, ErrorText* why) {
    return module->run(*own.device, batch, seed, times, why);
  });
}

Status CudaAccelerator::run_from_mu(const OperationContext& own, Batch one, StepTimes* times) {
  uint8_t mu[kMuBytes];
  const Status status = hash_message(own, one, mu);
  if (status != Status::kOk) return status;
  const bool deterministic = one.message.deterministic;
  one.message = Messages::of_mu(mu);
  one.message.deterministic = deterministic;
  return run_module(own, one, times);
}

/// mu of one item. Of a key on a GPU, only what mu depends on is copied to the host: the public key or its hash.
Status CudaAccelerator::hash_message(const OperationContext& own, const Batch& one, uint8_t* mu) {
  const ModuleTable* module = table();
  if (module == nullptr) return Status::kBackendUnavailable;
  const Op op = own.device->op;
  const size_t key_bytes = own.device->record_bytes.*key_field(op).bytes;
  const uint8_t* key = key_field(op).data(one) + (one.key_index == nullptr ? 0 : one.key_index[0]) * key_bytes;
  const MemoryKind kind = module->memory_kind_of(key);
  if (kind == MemoryKind::kUnknown) return Status::kBackendUnavailable;
  std::vector<uint8_t> copy;
  if (kind == MemoryKind::kDevice) {
    copy.resize(key_bytes);
    const size_t at = op == Op::kSign ? own.hash_of_key_at : 0, bytes = op == Op::kSign ? kMuBytes : key_bytes;
    ErrorText why{};
    const Outcome outcome = module->copy(copy.data() + at, key + at, bytes, &why);
    if (outcome != Outcome::kOk) return status_of(outcome, why);
    key = copy.data();
  }
  own.scheme->mu(op, key, one.message, mu);
  return Status::kOk;
}

Status run_operation(const void* context, const Batch& batch, std::byte*, StepTimes* times) {
  const auto& own = *static_cast<const OperationContext*>(context);
  return own.accelerator->run(own, batch, times);
}

/// None on the host, since the module has its own memory.
size_t no_workspace(size_t) {
  return 0;
}

/// True if the module describes the set as this library does.
bool CudaAccelerator::bind(const Scheme& scheme, const DeviceScheme& device, SchemeContext& out) {
  out.scheme = &scheme;
  out.device = &device;
  out.backend.name = name();
  for (size_t i = 0; i < kOpCount; ++i) {
    const auto op = static_cast<Op>(i);
    if (!scheme.has(op)) continue;
    const DeviceOperation& operation = device.operation(op);
    const size_t stages = scheme.stages.of(op).size();
    if (operation.op != op || !covers_each_stage_once(operation.steps, stages) ||
        operation.steps.size() + 2 > kMaxSteps || operation.record_bytes != scheme.record_bytes(op)) {
      return false;
    }
    OperationContext& context = out.operations[i];
    context.accelerator = this;
    context.scheme = &scheme;
    context.device = &operation;
    context.hash_of_key_at = device.hash_of_key_at;
    context.steps.push_back({"upload", 0, 0});
    for (const DeviceStep& step : operation.steps)
      context.steps.push_back(step.info);
    context.steps.push_back({"download", static_cast<uint8_t>(stages), 0});
    out.backend.ops[i] = {context.steps, 1, 1, no_workspace, run_operation, &context};
  }
  return true;
}

void CudaAccelerator::bind_all() {
  const std::lock_guard lock(mutex_);
  if (bound_) return;
  schemes_.clear();
  for (const auto sets : {registry(), signature_registry()}) {
    for (const Scheme* scheme : sets) {
      const DeviceScheme* device = table()->scheme(scheme->name);
      auto known = std::make_unique<SchemeContext>();
      if (device == nullptr) continue;
      if (bind(*scheme, *device, *known)) {
        schemes_.push_back(std::move(known));
      } else {
        problem_.store("libpolykem_cuda.so describes a parameter set differently: it belongs to another build");
      }
    }
  }
  bound_ = true;
}

const SchemeContext* CudaAccelerator::find(const Scheme& scheme) {
  if (table() == nullptr) return nullptr;
  bind_all();
  for (const auto& known : schemes_) {
    if (known->scheme == &scheme) return known.get();
  }
  return nullptr;
}

/// Arrays that a GPU cannot reach are copied by threads, a chunk at a time, so that copies overlap with the GPU's work
/// and a copied chunk stays in the CPU's cache. The scheme states the chunk size that suits an operation.
size_t CudaAccelerator::chunk_items(const Scheme& scheme, Op op, const BatchView& batch, unsigned threads) {
  const RecordBytes bytes = scheme.record_bytes(op);
  size_t item_bytes = 1, staged_bytes = 0;
  for (const FieldInfo& f : kRecordFields) {
    if (f.data(batch) == nullptr || (f.key && batch.shared_key)) continue;
    item_bytes += bytes.*f.bytes;
    if (table()->memory_kind_of(f.data(batch)) == MemoryKind::kPageable) staged_bytes += bytes.*f.bytes;
  }
  for (const Strings& strings : {batch.message.strings, batch.message.contexts}) {
    const bool hashed_for_each = strings.shared && strings.width > kLongestHashedByGpu;
    const size_t bytes_of_item = hashed_for_each ? strings.width : strings.bytes(batch.count) / batch.count;
    item_bytes += bytes_of_item;
    if (bytes_of_item > 0 && table()->memory_kind_of(strings.data) == MemoryKind::kPageable)
      staged_bytes += bytes_of_item;
  }
  const auto chunk = [](size_t items) { return in_whole_transactions(std::max<size_t>(items, 1)); };
  const size_t max_items = chunk(kChunkBytes / item_bytes);
  if (threads == 1 || staged_bytes == 0) return max_items;
  const size_t share = divided_up(batch.count, threads);
  const DeviceOperation& operation = find(scheme)->device->operation(op);
  const size_t wanted = std::min(share, operation.staged_bytes / staged_bytes);
  return std::min(max_items, chunk(std::max(wanted, operation.min_items)));
}

Status CudaAccelerator::queue_workspace_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes) {
  const SchemeContext* known = find(scheme);
  if (known == nullptr) return Status::kBackendUnavailable;
  const DeviceOperation& operation = known->device->operation(op);
  if (count > operation.max_items) return Status::kArgument;
  bytes = table()->queue_workspace_bytes(operation, count);
  return Status::kOk;
}

Status CudaAccelerator::queue(const Scheme& scheme, Op op, const Batch& batch, void* workspace, void* stream) {
  const SchemeContext* known = find(scheme);
  if (known == nullptr) return Status::kBackendUnavailable;
  const DeviceOperation& operation = known->device->operation(op);
  return with_seed(operation, batch, [&](const uint8_t* seed, ErrorText* why) {
    return table()->queue(operation, batch, seed, static_cast<std::byte*>(workspace), stream, why);
  });
}

// ---- memory

Owner CudaAccelerator::owner_of(const void* pointer) {
  if (in_use_.load(std::memory_order_acquire) == nullptr) return Owner::kOther;
  const ModuleTable* module = table();
  if (module == nullptr) return Owner::kOther;  // memory of a GPU does not survive a fork
  switch (module->memory_kind_of(pointer)) {
    case MemoryKind::kDevice:
      return Owner::kSelf;
    case MemoryKind::kUnknown:
      return Owner::kUnknown;
    default:
      return Owner::kOther;
  }
}

std::unique_ptr<KeyMemory> CudaAccelerator::place_keys(const Scheme& scheme, KeyKind kind, size_t count) {
  const SchemeContext* known = find(scheme);
  if (known == nullptr) return nullptr;
  const bool public_keys = kind == KeyKind::kPublicKeys;
  auto keys = std::make_unique<CudaKeys>(
      *this, public_keys ? known->device->expanded_public_key : known->device->expanded_secret_key, count,
      public_keys ? scheme.public_key_bytes : scheme.secret_key_bytes);
  return keys->allocate() ? std::move(keys) : nullptr;
}

bool CudaKeys::allocate() {
  ErrorText why{};
  records_ = accelerator_.table()->allocate(bytes_, nullptr, &why);
  return records_ != nullptr;
}

CudaKeys::~CudaKeys() {
  const ModuleTable* module = accelerator_.table();
  if (module == nullptr) return;
  module->release(records_, bytes_);
  module->release(expanded_, count_ * format_.bytes);
}

Status CudaKeys::fill(const uint8_t* records) {
  const ModuleTable* module = accelerator_.table();
  if (module == nullptr) return Status::kBackendUnavailable;
  ErrorText why{};
  return accelerator_.status_of(module->copy(records_, records, bytes_, &why), why);
}

void CudaKeys::expand() {
  const ModuleTable* module = accelerator_.table();
  if (format_.bytes == 0 || count_ > format_.max_keys || module == nullptr) return;
  ErrorText why{};
  expanded_ = module->allocate(count_ * format_.bytes, records_, &why);
  if (expanded_ == nullptr || module->expand(format_, expanded_, records(), count_, &why) == Outcome::kOk) return;
  module->release(expanded_, count_ * format_.bytes);
  expanded_ = nullptr;
}

}  // namespace

/// Never destroyed: batches may still run while the program ends. In static storage, so that asking for it cannot fail.
Accelerator& accelerator() {
  alignas(CudaAccelerator) static std::byte storage[sizeof(CudaAccelerator)];
  static auto* const only = new (storage) CudaAccelerator;
  return *only;
}

}  // namespace polykem::cuda
