// SPDX-License-Identifier: Apache-2.0
// The hardware core as an Accelerator: batches are computed item by item, and records pass through the core's streams.
#include "accelerators/rtl/accelerator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "accelerators/rtl/core_pool.hpp"
#include "core/round.hpp"
#include "core/secure.hpp"
#include "engine/per_process.hpp"
#include "engine/static_text.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/registry.hpp"

namespace polykem::rtl {

namespace {

constexpr BackendDescription kDescription = {
    "rtl", "ML-KEM and Kyber on the hardware core of hw/, simulated or on an FPGA; only if it is asked for",
    "libpolykem_rtl.so, or POLYKEM_RTL_UIO with the devices of a board"};

/// The items of a chunk: few, so that several cores share a batch.
constexpr size_t kMaxItems = 64;
constexpr size_t kMaxCoins = 64;

struct KnownSet {
  const char* name;
  CoreSet set;
};
constexpr KnownSet kSets[] = {{"mlkem512", {2, false}}, {"mlkem768", {3, false}}, {"mlkem1024", {4, false}},
                              {"kyber512", {2, true}},  {"kyber768", {3, true}},  {"kyber1024", {4, true}}};

class RtlAccelerator;

/// One operation of a set: what Operation::context points to.
struct OperationContext {
  RtlAccelerator* accelerator = nullptr;
  Op op = Op::kKeygen;
  CoreSet set;
  RecordBytes bytes{};
  std::vector<StepInfo> steps;
};

struct SchemeContext {
  const Scheme* scheme = nullptr;
  std::array<OperationContext, kOpsPerSet> operations;
  SchemeBackend backend{};
};

class RtlAccelerator final : public Accelerator {
 public:
  RtlAccelerator() : Accelerator(kDescription, "crossover-rtl", Crossovers::kNever) {}

  bool only_if_forced() const override { return true; }
  bool available() override { return pool_.get().any(); }
  bool may_be_available() override { return *why_no_core() == '\0'; }
  std::string devices() override { return pool_.get().devices(); }
  const char* problem() override;

  const SchemeBackend* backend_for(const Scheme& scheme) override;
  size_t chunk_items(const Scheme&, Op, const BatchView& batch, unsigned threads) override {
    return std::clamp<size_t>(divided_up(batch.count, threads), 1, kMaxItems);
  }

  /// A core keeps no records: keys stay on the host, and nothing can be queued.
  Owner owner_of(const void*) override { return Owner::kOther; }
  void zero(void*, size_t) override {}
  std::unique_ptr<KeyMemory> place_keys(const Scheme&, KeyKind, size_t) override { return nullptr; }
  Status queue_workspace_bytes(const Scheme&, Op, size_t, size_t&) override { return Status::kBackendUnavailable; }
  Status queue(const Scheme&, Op, const Batch&, void*, void*) override { return Status::kBackendUnavailable; }

  Status run(const OperationContext& operation, const Batch& batch, StepTimes* times);

 private:
  void bind_all();

  PerProcess<CorePool> pool_;
  std::atomic<const char*> last_failure_{""};
  std::mutex mutex_;
  std::vector<std::unique_ptr<SchemeContext>> schemes_;
};

/// The last failure of a command, or why there is no core.
const char* RtlAccelerator::problem() {
  const char* const failure = last_failure_.load();
  return *failure != '\0' ? failure : pool_.get().problem();
}

// ---- plans

/// The steps: the coins, the core's work as a whole, the phases of it that its counters measure, and the time in which
/// it overwrites its secrets afterwards.
constexpr size_t kCoinStep = 0;

std::vector<StepInfo> steps_of(const Scheme& scheme, Op op) {
  const auto stages = static_cast<uint8_t>(scheme.stages.of(op).size());
  const uint8_t makes_coins = scheme.coin_bytes(op) > 0 ? 1 : 0;
  std::vector<StepInfo> steps;
  if (makes_coins > 0) steps.push_back({"randombytes", 0, makes_coins});
  steps.push_back({"core", makes_coins, static_cast<uint8_t>(stages - makes_coins)});
  for (const char* phase : kPhaseNames)
    steps.push_back({phase, stages, 0});
  steps.push_back({"core: clearing", stages, 0});
  return steps;
}

Status run_operation(const void* context, const Batch& batch, std::byte*, StepTimes* times) {
  const auto& operation = *static_cast<const OperationContext*>(context);
  return operation.accelerator->run(operation, batch, times);
}

size_t no_workspace(size_t) {
  return 0;
}

void RtlAccelerator::bind_all() {
  for (const KnownSet& set : kSets) {
    auto known = std::make_unique<SchemeContext>();
    known->scheme = find_scheme(set.name);
    known->backend.name = name();
    for (size_t i = 0; i < kOpsPerSet; ++i) {
      const auto op = static_cast<Op>(i);
      OperationContext& context = known->operations[i];
      context = {this, op, set.set, known->scheme->record_bytes(op), steps_of(*known->scheme, op)};
      known->backend.ops[i] = {context.steps, 1, 1, no_workspace, run_operation, &context};
    }
    schemes_.push_back(std::move(known));
  }
}

const SchemeBackend* RtlAccelerator::backend_for(const Scheme& scheme) {
  if (!available()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (schemes_.empty()) bind_all();
  for (const auto& known : schemes_) {
    if (known->scheme == &scheme) return &known->backend;
  }
  return nullptr;
}

// ---- batches

/// One item: its records in host memory.
struct Item {
  const Batch& batch;
  const RecordBytes& bytes;
  size_t index;

  ConstBytes in(const uint8_t* records, size_t size) const { return {records + index * size, size}; }
  Bytes out(uint8_t* records, size_t size) const { return {records + index * size, size}; }
  ConstBytes key(const uint8_t* records, size_t size) const {
    return {records + (batch.shared_key ? 0 : index) * size, size};
  }
};

Outcome compute(Core& core, const OperationContext& operation, const Item& item, ConstBytes coins) {
  const Batch& b = item.batch;
  const RecordBytes& n = item.bytes;
  switch (operation.op) {
    case Op::kKeygen:
      return core.keygen(operation.set, coins, item.out(b.pk_out, n.pk), item.out(b.sk_out, n.sk));
    case Op::kEncaps:
      return core.encaps(operation.set, item.key(b.pk, n.pk), coins, item.out(b.ct_out, n.ct),
                         item.out(b.ss_out, n.ss));
    case Op::kDecaps:
      return core.decaps(operation.set, item.key(b.sk, n.sk), item.in(b.ct, n.ct), item.out(b.ss_out, n.ss));
    case Op::kSign:
    case Op::kVerify:
      break;  // it has no signatures
  }
  return Outcome::kRefused;
}

/// Adds the core's counters to the steps from "core" on.
void add_cycles(Core& core, StepTimes& times, size_t core_step) {
  const CoreCycles cycles = core.cycles();
  times.entries[core_step].cycles += cycles.occupied;
  for (size_t i = 0; i <= kPhases; ++i) {
    StepTimes::Entry& entry = times.entries[core_step + 1 + i];
    entry.calls += 1;
    entry.items += 1;
    entry.cycles += i < kPhases ? cycles.phases[i] : cycles.occupied - cycles.command;
  }
}

Status RtlAccelerator::run(const OperationContext& operation, const Batch& batch, StepTimes* times) {
  const CorePool::Lease lease = pool_.get().take();
  if (lease.get() == nullptr) return Status::kBackendUnavailable;
  std::array<uint8_t, kMaxCoins> own_coins{};
  const size_t coin_bytes = operation.bytes.coins, core_step = coin_bytes > 0 ? 1 : 0;
  StepClock clock(times);
  Status status = Status::kOk;
  for (size_t i = 0; i < batch.count && status == Status::kOk; ++i) {
    const Item item{batch, operation.bytes, i};
    if (coin_bytes > 0 && batch.coins == nullptr) batch.drbg->fill({own_coins.data(), coin_bytes});
    if (coin_bytes > 0) clock.stop(kCoinStep, 1);
    const ConstBytes coins =
        batch.coins == nullptr ? ConstBytes(own_coins.data(), coin_bytes) : item.in(batch.coins, coin_bytes);
    const Outcome outcome = compute(*lease.get(), operation, item, coins);
    clock.stop(core_step, 1);
    if (outcome == Outcome::kPublicKey) {
      batch.item_status[i] = Status::kPublicKey;
    } else if (outcome == Outcome::kSecretKey) {
      batch.item_status[i] = Status::kSecretKey;
    } else if (outcome != Outcome::kOk) {
      last_failure_.store(lease.get()->problem());
      status = Status::kBackendUnavailable;
    } else if (times != nullptr) {
      add_cycles(*lease.get(), *times, core_step);
      clock = StepClock(times);
    }
  }
  zeroize(own_coins.data(), own_coins.size());
  return status;
}

}  // namespace

/// Never destroyed: batches may still run while the program ends. In static storage, so that asking for it cannot fail.
Accelerator& accelerator() {
  alignas(RtlAccelerator) static std::byte storage[sizeof(RtlAccelerator)];
  static auto* const only = new (storage) RtlAccelerator;
  return *only;
}

}  // namespace polykem::rtl
