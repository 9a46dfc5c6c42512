// SPDX-License-Identifier: Apache-2.0
#include "engine/job.hpp"

#include <algorithm>
#include <memory>

namespace polykem {

Job::Job(const Request& request, const SchemeBackend& backend, size_t chunk, Done done)
    : request_(request), backend_(backend), chunk_(chunk), done_(std::move(done)), items_left_(request.count) {}

void Job::work(WorkerPool& workers, Profile& profile) {
  std::unique_ptr<Worker> worker;
  while (true) {
    const size_t first = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (first >= request_.count) break;
    const size_t count = std::min(chunk_, request_.count - first);
    if (worker == nullptr) worker = workers.take();
    if (worker == nullptr) {
      fail(Status::out_of_memory);
    } else if (const Status status = compute(first, count, *worker, profile); status != Status::ok) {
      fail(status);
    }
    const bool more = next_.load(std::memory_order_relaxed) < request_.count;
    if (worker != nullptr && !more) worker->wipe();
    if (items_left_.fetch_sub(count, std::memory_order_acq_rel) == count) complete();
  }
  if (worker != nullptr) {
    worker->wipe();
    workers.give_back(std::move(worker));
  }
}

Status Job::compute(size_t first, size_t count, Worker& worker, Profile& profile) {
  const bool timed = profile.enabled();
  if (request_.sk_is_seed) {
    const Operation& keygen = backend_.op(Op::keygen);
    StepTimes times;
    const Status status = expand_seeds(request_, keygen, first, count, worker, timed ? &times : nullptr);
    if (status != Status::ok) return status;
    if (timed) profile.add(Op::keygen, keygen, times);
  }
  if (request_.item_status == nullptr && worker.item_status.size() < count) worker.item_status.resize(count);
  Status* item_status = request_.item_status == nullptr ? worker.item_status.data() : request_.item_status + first;
  std::fill_n(item_status, count, Status::ok);
  StepTimes times;
  const Status status = run_chunk(request_, backend_, first, count, item_status, worker, timed ? &times : nullptr);
  if (status != Status::ok) return status;
  if (timed) profile.add(request_.op, backend_.op(request_.op), times);
  static_assert(static_cast<int>(Status::ok) == 0);
  int any = 0;  // without a way out of the loop it becomes vector code
  for (size_t i = 0; i < count; ++i)
    any |= static_cast<int>(item_status[i]);
  return any == 0 ? Status::ok : Status::items;
}

/// A failure of the whole batch outranks errors of items; the first one stays.
void Job::fail(Status status) {
  int seen = status_.load(std::memory_order_relaxed);
  while (seen == static_cast<int>(Status::ok) || seen == static_cast<int>(Status::items)) {
    if (seen == static_cast<int>(status)) return;
    if (status_.compare_exchange_weak(seen, static_cast<int>(status), std::memory_order_acq_rel)) return;
    if (status == Status::items && seen != static_cast<int>(Status::ok)) return;
  }
}

void Job::complete() {
  if (status() != Status::ok && status() != Status::items) zero_outputs(request_);
  if (done_) done_(status());
  const std::lock_guard lock(mutex_);
  finished_.store(true, std::memory_order_release);
  changed_.notify_all();
}

Status Job::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return finished(); });
  return status();
}

}  // namespace polykem
