// SPDX-License-Identifier: Apache-2.0
// The module's table: batches through a lane of a device, or straight onto the caller's stream.
#include "engine/cuda/module.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <tuple>
#include <vector>

#include "engine/cuda/device.hpp"
#include "engine/cuda/passage.hpp"
#include "schemes/ntru/cuda/ntru_cuda.hpp"

namespace polykem::cuda {

namespace {

void say(ErrorText* why, const char* text) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", text);
}

/// Runs `body`, turning what it throws into an outcome and a text.
template <class F>
Outcome guarded(ErrorText* why, F&& body) {
  try {
    body();
    return Outcome::ok;
  } catch (const CudaError& error) {
    say(why, error.text.c_str());
    return error.code == cudaErrorMemoryAllocation ? Outcome::out_of_memory : Outcome::failed;
  } catch (const std::bad_alloc&) {
    say(why, "out of host memory");
    return Outcome::out_of_memory;
  }
}

Outcome open(ErrorText* why) {
  const DeviceManager& manager = DeviceManager::instance();
  if (!manager.devices().empty()) return Outcome::ok;
  say(why, manager.problem().c_str());
  return Outcome::failed;
}

int device_count() {
  return static_cast<int>(DeviceManager::instance().devices().size());
}

DeviceInfo device_info(int device) {
  return DeviceManager::instance().devices()[static_cast<size_t>(device)]->info();
}

const DeviceOperation* operation(const char* scheme, Op op) {
  for (const auto set : ntru::cuda::operations()) {
    if (std::strcmp(set.front().scheme, scheme) == 0) return &set[static_cast<size_t>(op)];
  }
  return nullptr;
}

/// Items of one passage through a device, per operation: enough that its kernels fill an H200, few enough that the
/// first outputs leave early. docs/adr/0006 and 0009 have the measurements.
constexpr std::array<size_t, kOps> kPassageItems = {20480, 7168, 12288};

/// While the last outputs leave, the device has nothing else to do; so if they are many, a last passage of at least so
/// many items is halved.
constexpr std::array<size_t, kOps> kLeastHalved = {12288, SIZE_MAX, SIZE_MAX};

/// Several devices share a batch of at least so many items each.
constexpr size_t kLeastPassageItems = 4096;

/// A passage has whole bus transactions; the last one takes what is left.
constexpr size_t whole_transactions(size_t items) {
  return (items + 63) / 64 * 64;
}

std::array<const void*, 8> arrays_of(const ModuleBatch& batch) {
  return {batch.pk, batch.sk, batch.ct, batch.draws, batch.pk_out, batch.sk_out, batch.ct_out, batch.ss_out};
}

/// Whether something of the batch lies in the host's memory.
bool crosses(const ModuleBatch& batch) {
  const auto arrays = arrays_of(batch);
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const void* array) { return array != nullptr && place_of(array).kind != Place::Kind::device; });
}

/// A batch whose arrays are on the device goes as one; others in equal passages, so that copies and kernels overlap.
size_t passage_items(const DeviceOperation& operation, const ModuleBatch& batch, size_t devices) {
  if (!crosses(batch)) return batch.count;
  const size_t most = kPassageItems[static_cast<size_t>(operation.op)];
  const size_t fitting = (batch.count + most - 1) / most;
  const size_t passages = std::max({size_t{1}, fitting, std::min(devices, batch.count / kLeastPassageItems)});
  return whole_transactions((batch.count + passages - 1) / passages);
}

/// Items of the next passage, of those that are left.
size_t next_items(size_t part, size_t left, size_t least_halved) {
  if (left > part || left < least_halved) return std::min(part, left);
  return whole_transactions(left / 2);
}

/// The devices a batch may use: the one that holds its arrays, else all. Empty if they are lost.
std::vector<Device*> devices_for(const ModuleBatch& batch) {
  DeviceManager& manager = DeviceManager::instance();
  std::vector<Device*> usable;
  for (const void* array : arrays_of(batch)) {
    if (array == nullptr) continue;
    const Place place = place_of(array);
    if (place.kind != Place::Kind::device) continue;
    if (Device* device = manager.find(place.ordinal); device != nullptr) usable.push_back(device);
    return usable;
  }
  for (const auto& device : manager.devices()) {
    if (!device->lost()) usable.push_back(device.get());
  }
  return usable;
}

/// A batch on its way: passages of consecutive items, several at a time, spread over devices.
class Convoy {
 public:
  Convoy(const std::vector<Device*>& devices, const DeviceOperation& operation, const ModuleBatch& batch,
         StepTimes* times)
      : operation_(operation), batch_(batch), times_(times) {
    for (Device* device : devices)
      shares_.push_back({device, {}, 0, 0});
  }
  ~Convoy() {
    under_way_.clear();
    release_lanes();
  }
  Convoy(const Convoy&) = delete;
  Convoy& operator=(const Convoy&) = delete;

  /// Throws CudaError. Halves the passages each time memory runs out.
  void run() {
    size_t part = passage_items(operation_, batch_, shares_.size());
    const size_t least_halved = crosses(batch_) ? kLeastHalved[static_cast<size_t>(operation_.op)] : SIZE_MAX;
    for (size_t first = 0; first < batch_.count;) {
      const size_t count = next_items(part, batch_.count - first, least_halved);
      Share* const share = share_with_lane();
      if (share == nullptr) {
        finish_oldest();
        continue;
      }
      used_ = share->device;
      auto passage = std::make_unique<Passage>(*share->device, operation_, batch_, first, count);
      if (count > 1 && passage->device_bytes() > budget(*share->device)) {
        part = (count + 1) / 2;
        continue;
      }
      auto lane = std::move(share->idle.back());
      share->idle.pop_back();
      share->device->make_current();
      try {
        passage->start(std::move(lane), times_);
      } catch (const CudaError& error) {
        if (error.code != cudaErrorMemoryAllocation || (count == 1 && under_way_.empty())) throw;
        passage.reset();
        --share->lanes;
        make_room();
        part = (count + 1) / 2;
        continue;
      }
      first += count;
      ++share->under_way;
      under_way_.push_back({share, std::move(passage)});
    }
    while (!under_way_.empty()) {
      finish_oldest();
      release_lanes();  // their wipes are queued while the last passages are still under way
    }
  }

  /// The device whose error run() threw.
  Device& used() const { return *used_; }

 private:
  /// What the batch has of one device. Its lanes stay with it to the end, so that they are wiped once.
  struct Share {
    Device* device;
    std::vector<std::unique_ptr<Lane>> idle;
    size_t lanes, under_way;
  };
  struct UnderWay {
    Share* share;
    std::unique_ptr<Passage> passage;
  };

  /// One on the way in, two computed, one on the way out; more lead to nothing but more to wipe.
  static constexpr size_t kLanesOfBatch = 4;

  static size_t budget(const Device& device) {
    return device.lane_budget(DeviceManager::instance().budget.load(std::memory_order_relaxed));
  }

  /// The least busy share with an idle lane, which may be a new one; nullptr if a passage must end first. Whoever has
  /// lanes does not wait for more, so no two batches wait for each other.
  Share* share_with_lane() {
    std::vector<std::tuple<size_t, int, Share*>> order;  // other threads change what is in flight meanwhile
    for (Share& share : shares_)
      order.emplace_back(share.under_way, share.device->in_flight(), &share);
    std::sort(order.begin(), order.end());
    const auto gets_lane = [this](Share* share, bool wait) {
      used_ = share->device;
      if (share->idle.empty() && share->lanes < kLanesOfBatch) {
        if (auto lane = share->device->take(wait); lane != nullptr) {
          share->idle.push_back(std::move(lane));
          ++share->lanes;
        }
      }
      return !share->idle.empty();
    };
    for (const auto& [under_way, in_flight, share] : order) {
      if (gets_lane(share, false)) return share;
    }
    const bool has_lanes = std::any_of(shares_.begin(), shares_.end(), [](const Share& s) { return s.lanes > 0; });
    if (has_lanes) return nullptr;
    Share* const best = std::get<Share*>(order.front());
    gets_lane(best, true);
    return best;
  }

  void finish_oldest() {
    auto [share, passage] = std::move(under_way_.front());
    under_way_.pop_front();
    used_ = share->device;
    share->idle.push_back(passage->finish());
    --share->under_way;
  }

  void release_lanes() {
    for (Share& share : shares_) {
      share.lanes -= share.idle.size();
      for (auto& lane : share.idle)
        share.device->give_back(std::move(lane));
      share.idle.clear();
    }
  }

  void make_room() {
    while (!under_way_.empty())
      finish_oldest();
    release_lanes();
    for (const Share& share : shares_)
      share.device->trim();
  }

  const DeviceOperation& operation_;
  const ModuleBatch& batch_;
  StepTimes* const times_;
  std::vector<Share> shares_;
  std::deque<UnderWay> under_way_;
  Device* used_ = nullptr;
};

Outcome run(const DeviceOperation& operation, const ModuleBatch& batch, StepTimes* times, ErrorText* why) {
  const CurrentDevice callers;
  const std::vector<Device*> devices = devices_for(batch);
  if (devices.empty()) {
    say(why, "the GPU has failed in this process");
    return Outcome::failed;
  }
  Convoy convoy(devices, operation, batch, times);
  const Outcome outcome = guarded(why, [&] { convoy.run(); });
  if (outcome == Outcome::failed) convoy.used().mark_lost();
  return outcome;
}

size_t queue_bytes(const DeviceOperation& operation, size_t count) {
  return operation.workspace_bytes(count) + 256;
}

Outcome queue(const DeviceOperation& operation, const ModuleBatch& batch, std::byte* workspace, void* stream,
              ErrorText* why) {
  return guarded(why, [&] {
    const auto on = static_cast<cudaStream_t>(stream);
    // From pageable memory: the driver has its own copy when the call returns.
    check(cudaMemcpyAsync(workspace, batch.seed, kSeedBytes, cudaMemcpyHostToDevice, on), "copying the seed");
    const DeviceBatch device{.count = batch.count,
                             .shared_key = batch.shared_key,
                             .draws = batch.draws,
                             .seed = reinterpret_cast<const uint32_t*>(workspace),
                             .pk = batch.pk,
                             .sk = batch.sk,
                             .ct = batch.ct,
                             .pk_out = batch.pk_out,
                             .sk_out = batch.sk_out,
                             .ct_out = batch.ct_out,
                             .ss_out = batch.ss_out};
    for (size_t i = 0; i < operation.steps.size(); ++i) {
      check(static_cast<cudaError_t>(operation.run_step(i, device, workspace + 256, stream)), operation.steps[i].name);
    }
    check(cudaMemsetAsync(workspace, 0, queue_bytes(operation, batch.count), on), "wiping device memory");
  });
}

std::byte* allocate(size_t bytes, ErrorText* why) {
  Device* device = DeviceManager::instance().choose();
  if (device == nullptr) {
    say(why, "the GPU has failed in this process");
    return nullptr;
  }
  const CurrentDevice callers;
  void* memory = nullptr;
  const Outcome outcome = guarded(why, [&] {
    check(cudaSetDevice(device->ordinal()), "choosing the device");
    fail_if_due(Fault::allocation, cudaErrorMemoryAllocation, "allocating device memory");
    check(cudaMalloc(&memory, bytes + 4), "allocating device memory");  // readable to the next multiple of 4
  });
  return outcome == Outcome::ok ? static_cast<std::byte*>(memory) : nullptr;
}

void release(std::byte* memory, size_t bytes) {
  if (memory == nullptr) return;
  (void)cudaMemset(memory, 0, bytes);
  (void)cudaFree(memory);
  (void)cudaGetLastError();
}

bool on_device(const void* pointer) {
  return place_of(pointer).kind == Place::Kind::device;
}

bool reachable(const void* pointer) {
  return place_of(pointer).kind != Place::Kind::pageable;
}

Outcome copy(void* to, const void* from, size_t bytes, ErrorText* why) {
  return guarded(why, [&] { check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying"); });
}

Outcome zero(void* memory, size_t bytes, ErrorText* why) {
  return guarded(why, [&] { check(cudaMemset(memory, 0, bytes), "wiping device memory"); });
}

void set_budget(size_t bytes) {
  DeviceManager::instance().budget.store(bytes, std::memory_order_relaxed);
}

constexpr ModuleTable kTable{.abi = kModuleAbi,
                             .table_bytes = sizeof(ModuleTable),
                             .open = open,
                             .device_count = device_count,
                             .device_info = device_info,
                             .operation = operation,
                             .run = run,
                             .queue = queue,
                             .queue_bytes = queue_bytes,
                             .allocate = allocate,
                             .release = release,
                             .on_device = on_device,
                             .reachable = reachable,
                             .copy = copy,
                             .zero = zero,
                             .set_budget = set_budget,
                             .inject = inject};

}  // namespace

}  // namespace polykem::cuda

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  return &polykem::cuda::kTable;
}
