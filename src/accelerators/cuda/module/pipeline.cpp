// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/pipeline.hpp"

#include <algorithm>
#include <tuple>

#include "prim/cuda/multiprocessors.hpp"

namespace polykem::cuda {

namespace {

/// The most parts of a batch on a device: one copies in, two compute, one copies out. More gain nothing, and their
/// memory would have to be zeroized.
constexpr size_t kMaxPartsOfBatch = 4;

/// A part has as many items as keep the device busy (the scheme's hint), but at most this many bytes, so that the first
/// outputs are copied back early. docs/adr/0006 and 0009 have the measurements.
constexpr size_t kMaxPartBytes = size_t{96} << 20;

/// Several devices share a batch if each gets at least this many bytes.
constexpr size_t kMinPartBytes = size_t{8} << 20;

/// While the last outputs are copied back, the device is idle. If they have more bytes than this, the last part is
/// halved.
constexpr size_t kMinHalvedBytes = size_t{30} << 20;

/// A size of parts, as the scheme gives it, for the device's multiprocessors.
size_t scaled(size_t items, const Device& device) {
  const auto multiprocessors = static_cast<size_t>(device.info().multiprocessors);
  return std::max<size_t>(1, items * multiprocessors / kMeasuredMultiprocessors);
}

/// A batch whose arrays are on the device is one part. Other batches are cut into equal parts, so that copies and
/// kernels overlap: into larger ones where the copies of one batch run beside the kernels of another.
size_t part_items(const LocatedBatch& batch, const std::vector<Device*>& devices) {
  const DeviceOperation& operation = batch.operation();
  if (batch.crossing_bytes() == 0) return std::min(batch.count(), operation.max_items);
  const size_t bytes = batch.item_bytes(), max_bytes = operation.part_bytes > 0 ? operation.part_bytes : kMaxPartBytes;
  const bool busy = std::any_of(devices.begin(), devices.end(), [](const Device* d) { return d->in_flight() > 0; });
  const size_t max_items =
      busy && operation.busy_part_items > 0
          ? scaled(operation.busy_part_items, *devices.front())
          : std::max<size_t>(1, std::min(scaled(operation.part_items, *devices.front()), max_bytes / bytes));
  const size_t parts = std::max({size_t{1}, divided_up(batch.count(), max_items),
                                 std::min(devices.size(), batch.count() * bytes / kMinPartBytes)});
  return std::min(in_whole_transactions(divided_up(batch.count(), parts)), operation.max_items);
}

/// The number of items in the next part, of the `left` remaining ones.
size_t next_items(const LocatedBatch& batch, size_t part, size_t left) {
  const bool last = left <= part && left > part / 2 && batch.operation().part_bytes == 0;
  if (last && left * batch.returning_bytes() >= kMinHalvedBytes) return in_whole_transactions(left / 2);
  return std::min(part, left);
}

size_t budget(const Device& device) {
  return device.part_budget(DeviceManager::instance().budget.load(std::memory_order_relaxed));
}

}  // namespace

Pipeline::Pipeline(const std::vector<Device*>& devices, const LocatedBatch& batch, StepTimes* times)
    : batch_(batch), times_(times), part_items_(part_items(batch, devices)) {
  for (Device* device : devices)
    shares_.push_back({.device = device, .idle = {}});
  for (DeviceShare& share : shares_)
    share.idle.reserve(kMaxPartsOfBatch);  // so that keeping resources cannot fail
}

Pipeline::~Pipeline() {
  under_way_.clear();
  release_resources();
}

void Pipeline::run() {
  size_t max_items = part_items_;
  for (size_t first = 0; first < batch_.count();) {
    DeviceShare* const share = share_with_resources();
    if (share == nullptr) {
      finish_oldest();
      continue;
    }
    const size_t count = next_items(batch_, max_items, batch_.count() - first);
    if (start(*share, first, count)) {
      first += count;
    } else {
      max_items = (count + 1) / 2;
    }
  }
  while (!under_way_.empty()) {
    finish_oldest();
    release_resources();  // their zeroizations are queued while the last parts are still under way
  }
}

/// False if the part is too large for the memory of the device.
bool Pipeline::start(DeviceShare& share, size_t first, size_t count) {
  used_ = share.device;
  auto part = std::make_unique<Part>(*share.device, batch_, first, count);
  if (count > 1 && part->device_bytes() > budget(*share.device)) return false;
  share.device->make_current();
  auto resources = std::move(share.idle.back());
  share.idle.pop_back();
  try {
    part->start(std::move(resources), times_);
  } catch (const CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation || (count == 1 && under_way_.empty())) throw;
    part.reset();
    --share.held;
    make_room();
    return false;
  }
  ++share.under_way;
  under_way_.push_back({&share, std::move(part)});
  return true;
}

bool Pipeline::get_resources(DeviceShare& share, bool wait) {
  used_ = share.device;
  if (share.idle.empty() && share.held < kMaxPartsOfBatch) {
    if (auto resources = share.device->take(wait); resources != nullptr) {
      share.idle.push_back(std::move(resources));
      ++share.held;
    }
  }
  return !share.idle.empty();
}

/// The least busy share with idle resources, which may be new; nullptr if a part must end first. A batch that has
/// resources does not wait for more, so no two batches wait for each other.
Pipeline::DeviceShare* Pipeline::share_with_resources() {
  std::vector<std::tuple<size_t, int, DeviceShare*>> order;  // a copy, since other threads change the counts meanwhile
  for (DeviceShare& share : shares_)
    order.emplace_back(share.under_way, share.device->in_flight(), &share);
  std::sort(order.begin(), order.end());
  for (const auto& [under_way, in_flight, share] : order) {
    if (get_resources(*share, false)) return share;
  }
  if (std::any_of(shares_.begin(), shares_.end(), [](const DeviceShare& s) { return s.held > 0; })) return nullptr;
  DeviceShare* const best = std::get<DeviceShare*>(order.front());
  get_resources(*best, true);
  return best;
}

void Pipeline::finish_oldest() {
  auto [share, part] = std::move(under_way_.front());
  under_way_.pop_front();
  used_ = share->device;
  share->idle.push_back(part->finish());
  --share->under_way;
  share->finished = true;
}

void Pipeline::batch_succeeded() {
  for (const DeviceShare& share : shares_) {
    if (share.finished) share.device->batch_succeeded();
  }
}

void Pipeline::release_resources() {
  for (DeviceShare& share : shares_) {
    share.held -= share.idle.size();
    for (auto& resources : share.idle)
      share.device->give_back(std::move(resources));
    share.idle.clear();
  }
}

void Pipeline::make_room() {
  while (!under_way_.empty())
    finish_oldest();
  release_resources();
  for (const DeviceShare& share : shares_)
    share.device->trim();
}

}  // namespace polykem::cuda
