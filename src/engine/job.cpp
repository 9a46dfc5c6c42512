// SPDX-License-Identifier: Apache-2.0
#include "engine/job.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "core/cpu_features.hpp"
#include "prim/drbg/fork_generation.hpp"

namespace polykem {

namespace {

std::atomic<size_t> fallbacks{0};

/// The job whose callback runs on this thread.
thread_local const Job* completing = nullptr;

/// The function that zeroizes a thread's stack after its chunks of the batch.
ZeroizeStack* zeroize_after(const Request& request) {
  if (tiles_in_use() && request.run_on != RunOn::kCaller) return zeroize_stack_with_tiles;
  return request.records.count == 1 ? zeroize_stack_of_single_item : zeroize_stack;
}

}  // namespace

size_t chunk_fallbacks() {
  return fallbacks.load(std::memory_order_relaxed);
}

Job::Job(const Request& request, const Route& route, size_t chunk_items, Done done)
    : shape_{*request.scheme, request.op, request.sk_is_seed,
             request.keyset == nullptr || request.keyset->placed == nullptr},
      records_(with_keys(request, *route.backend)),
      bytes_(record_bytes(*request.scheme, request.op, request.sk_is_seed)),
      route_(route),
      chunk_items_(chunk_items),
      done_(std::move(done)),
      zeroize_stack_(zeroize_after(request)),
      process_(ForkGeneration::of_process()),
      items_left_(records_.count) {}

Status Job::refuse(Status failure) const {
  fail_batch(records_, bytes_, route_, failure);
  return failure;
}

/// A thread claims its next chunk before it counts the present one as done. So a thread that gets none has zeroized its
/// memory before the batch is complete.
void Job::work(WorkerPool& workers, Profile& profile) noexcept {
  std::unique_ptr<Worker> worker;
  const auto claim = [this] { return next_.fetch_add(chunk_items_, std::memory_order_relaxed); };
  for (size_t first = claim(); first < records_.count;) {
    const size_t count = std::min(chunk_items_, records_.count - first);
    if (worker == nullptr) worker = workers.take();
    const Status status = worker == nullptr ? Status::kOutOfMemory : compute(first, count, *worker, profile);
    if (status != Status::kOk) fail(status);
    first = claim();
    if (worker != nullptr && first >= records_.count) worker->zeroize(zeroize_stack_);
    if (items_left_.fetch_sub(count, std::memory_order_acq_rel) == count) complete();
  }
  if (worker != nullptr) workers.give_back(std::move(worker));
}

Status Job::compute(size_t first, size_t count, Worker& worker, Profile& profile) {
  try {
    BatchView items = records_.slice(bytes_, first, count);
    if (items.item_status == nullptr) {
      if (worker.item_status.size() < count) worker.item_status.resize(count);
      items.item_status = worker.item_status.data();
    }
    Profile* const timed = profile.enabled() ? &profile : nullptr;
    const Status status = compute_chunk(shape_, *route_.backend, items, worker, timed);
    const bool lost = status == Status::kBackendUnavailable || status == Status::kOutOfMemory;
    if (!lost || route_.fallback == nullptr) return status;
    fallbacks.fetch_add(1, std::memory_order_relaxed);
    route_.accelerator->count_fallback();
    return compute_on_cpu(items, worker, timed);
  } catch (const std::bad_alloc&) {
    return Status::kOutOfMemory;
  } catch (...) {
    return Status::kInternal;
  }
}

/// Computes the whole chunk again on the CPU, in chunks that suit it.
Status Job::compute_on_cpu(const BatchView& items, Worker& worker, Profile* profile) {
  const size_t max_items = route_.fallback->op(shape_.op).chunk;
  Status result = Status::kOk;
  for (size_t first = 0; first < items.count; first += max_items) {
    const BatchView slice = items.slice(bytes_, first, std::min(max_items, items.count - first));
    const Status status = compute_chunk(shape_, *route_.fallback, slice, worker, profile);
    if (status != Status::kOk && status != Status::kItems) return status;
    if (status == Status::kItems) result = status;
  }
  return result;
}

/// Records a chunk's status. A failure of the whole batch outranks errors of items, and the first failure is kept.
void Job::fail(Status status) {
  int seen = status_.load(std::memory_order_relaxed);
  while (seen == static_cast<int>(Status::kOk) || seen == static_cast<int>(Status::kItems)) {
    if (seen == static_cast<int>(status)) return;
    if (status_.compare_exchange_weak(seen, static_cast<int>(status), std::memory_order_acq_rel)) return;
    if (status == Status::kItems && seen != static_cast<int>(Status::kOk)) return;
  }
}

void fail_batch(const BatchView& records, const RecordBytes& bytes, const Route& route, Status status) noexcept {
  for (const FieldInfo& f : kRecordFields) {
    if (f.out == nullptr || records.*f.out == nullptr) continue;
    const size_t size = records.count * (bytes.*f.bytes);
    if ((route.on_accelerator & f.field) != 0) {
      route.accelerator->zero(records.*f.out, size);
    } else {
      zeroize(records.*f.out, size);
    }
  }
  if (records.item_status != nullptr) std::fill_n(records.item_status, records.count, status);
}

void Job::complete() noexcept {
  const Status result = status();
  if (result != Status::kOk && result != Status::kItems) fail_batch(records_, bytes_, route_, result);
  if (done_) {
    completing = this;
    done_(result);
    completing = nullptr;
  }
  const std::lock_guard lock(mutex_);
  finished_.store(true, std::memory_order_release);
  changed_.notify_all();
}

Status Job::wait() {
  if (finished()) return status();
  if (completing == this || process_ != ForkGeneration::of_process()) return Status::kArgument;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return finished(); });
  return status();
}

}  // namespace polykem
