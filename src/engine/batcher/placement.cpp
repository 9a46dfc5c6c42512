// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/placement.hpp"

#include <algorithm>

#include "core/round.hpp"

namespace polykem {

namespace {

/// An estimate of the time to wake a thread that waits for a result.
constexpr Clock::duration kSwitch = std::chrono::microseconds(10);
/// The fraction of the CPUs that may be busy with operations on their callers' threads.
constexpr double kBusyCpus = 0.6;
/// The fraction of its time that a caller may spend on operations that batches or other threads would compute cheaper.
constexpr double kBusyCaller = 0.1;
/// The assumed cost of an operation that was never measured.
constexpr Clock::duration kUnmeasuredOperation = std::chrono::milliseconds(1);
/// The size of a batch of an operation that was never measured.
constexpr size_t kUnmeasuredItems = 16;
/// The largest batch on the CPU, in bytes of records. More would gain nothing, and an InFlightBatch keeps its memory.
constexpr size_t kMaxBytesOnCpu = size_t{16} << 20;

}  // namespace

bool Placement::is_loaded() const {
  return load.at(now) > kBusyCpus * threads;
}

bool Placement::spills(const TicketQueue& queue) const {
  return above_high_water() && std::ranges::any_of(executors, [&](const ExecutorState& executor) {
           return !executor.cpu() && executor.takes(queue);
         });
}

bool Placement::caller_may_compute(const TicketQueue& queue) const {
  if (!config.on_caller || config.linger.count() > 0) return false;
  const auto keeps = [&](const ExecutorState& executor) { return executor.forced() && executor.takes(queue); };
  return above_high_water() || std::ranges::none_of(executors, keeps);
}

bool Placement::caller_is_sooner(const TicketQueue& queue, Caller caller, double own_load) const {
  const Clock::duration single = queue.single.of(1);
  if (single > caller.longest_here) return false;
  const bool worth_a_switch = single > kSwitch && !caller.waits;
  if (own_load > kBusyCaller && worth_a_switch && (threads > 1 || cheaper(executors.front(), queue))) return false;
  const bool loaded = is_loaded();
  for (const ExecutorState& executor : executors) {
    if (!executor.cpu() && (above_high_water() || !executor.takes(queue))) continue;
    if (loaded && cheaper(executor, queue)) return false;
    if (executor.cpu()) continue;
    if (executor.busy_for(now) + service_of(executor, queue, queue.waiting.size + 1) + kSwitch < single) return false;
  }
  return true;
}

/// In this order: the first idle executor that is forced; of the other idle ones, the one that finishes soonest, if
/// that is sooner than on the CPU or, while the CPU is loaded, cheaper; the CPU, if it is idle and may have items.
/// Above the high-water mark only the CPU is chosen. While a forced executor is busy and not late, the CPU takes only
/// queues with items that another executor failed to compute.
std::optional<size_t> Placement::choose_executor(const TicketQueue& queue) const {
  const ExecutorState& cpu = executors.front();
  const size_t items = queue.waiting.size;
  bool forced_busy = false;
  std::optional<size_t> best;
  Clock::duration soonest = cpu.busy_for(now) + service_of(cpu, queue, queue.size());
  for (size_t i = 0; i < executors.size(); ++i) {
    const ExecutorState& executor = executors[i];
    if (executor.cpu() || items == 0 || above_high_water() || !executor.takes(queue)) continue;
    if (!executor.idle()) {
      forced_busy |= executor.forced() && !executor.all_late();
    } else if (executor.forced()) {
      return i;
    } else {
      const Clock::duration time = executor.busy_for(now) + service_of(executor, queue, items);
      if (time >= soonest && (best || !is_loaded() || !cheaper(executor, queue))) continue;
      best = i;
      soonest = time;
    }
  }
  if (best) return best;
  if (!cpu.idle() || (forced_busy && queue.rescue.size == 0) || items_allowed(cpu, queue) == 0) return {};
  return 0;
}

/// An executor other than the CPU gets one item until its times are known, then as many as take a quarter of the
/// deadline, or more where a single item takes most of that. The CPU gets as many decapsulations as the limit on bytes
/// allows. For other operations, its batch may also take at most half of kMaxAhead, and no more of kMaxAhead than the
/// batches in flight leave. If none is in flight, one item is always allowed; without measurements, kUnmeasuredItems.
size_t Placement::items_allowed(const ExecutorState& executor, const TicketQueue& queue) const {
  const ServiceTime& service = executor.service(queue);
  if (!executor.cpu()) {
    if (!service.known()) return 1;
    // Two batches in flight should take half the deadline. Where one item alone takes most of that, larger batches are
    // no later than more batches.
    const Clock::duration max_time = std::max<Clock::duration>(config.deadline / 4, service.of(1) * 3 / 2);
    return std::min(service.items_to_try(max_time), config.batch_items);
  }
  const RecordBytes bytes = queue.scheme->record_bytes(queue.op);
  const size_t max_items =
      std::clamp<size_t>(kMaxBytesOnCpu / (bytes.pk + bytes.sk + bytes.ct + bytes.sig), 1, config.batch_items);
  if (queue.op == Op::kDecaps) return max_items;
  Clock::duration left = kMaxAhead;
  for (const InFlightBatch* batch : executor.in_flight())
    if (batch->queue->op != Op::kDecaps) left -= batch->expected;
  if (left <= left.zero()) return 0;
  const bool first = left == kMaxAhead;
  const Clock::duration one = service_of(executor, queue, 1);
  if (one == one.zero()) return first ? std::min(kUnmeasuredItems, max_items) : 0;
  if (!first && one > left) return 0;
  const Clock::duration max_time = std::min<Clock::duration>(left, kMaxAhead / 2);
  const size_t fit = service.known() ? service.items_in(max_time) : static_cast<size_t>(max_time / one) * threads;
  return std::clamp<size_t>(fit, 1, max_items);
}

Clock::duration Placement::service_of(const ExecutorState& executor, const TicketQueue& queue, size_t items) const {
  if (const ServiceTime& service = executor.service(queue); service.known()) return service.of(items);
  return queue.single.known() ? queue.single.of(1) * static_cast<Clock::rep>(divided_up(items, threads))
                              : Clock::duration::zero();
}

unsigned Placement::cpu_width(const TicketQueue& queue, size_t items) const {
  return static_cast<unsigned>(std::min<size_t>(divided_up(items, queue.items_per_vector), threads));
}

/// True if an item in a large batch takes less of the executor's time than a single item takes of the CPUs'.
bool Placement::cheaper(const ExecutorState& executor, const TicketQueue& queue) const {
  const ServiceTime& service = executor.service(queue);
  if (executor.cpu() && !service.known()) return queue.items_per_vector > 1;
  const auto items = static_cast<Clock::rep>(items_allowed(executor, queue));
  if (items == 0 || !service.known()) return false;
  return service.of(static_cast<size_t>(items)) / items * 5 < queue.single.of(1) / threads * 4;
}

Clock::duration Placement::cost(const TicketQueue& queue) const {
  const auto all = static_cast<Clock::rep>(threads);
  Clock::duration min_cost = queue.single.known() ? queue.single.of(1) / all : Clock::duration::max();
  for (const ExecutorState& executor : executors) {
    const ServiceTime& service = executor.service(queue);
    if (!service.known() || (!executor.cpu() && !executor.takes(queue))) continue;
    Clock::duration one = service.share();
    if (executor.cpu()) one = one * static_cast<Clock::rep>(cpu_width(queue, service.usual_items())) / all;
    min_cost = std::min(min_cost, one);
  }
  return min_cost == Clock::duration::max() ? kUnmeasuredOperation / all : min_cost;
}

}  // namespace polykem
