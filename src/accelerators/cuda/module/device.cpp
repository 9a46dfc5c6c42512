// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "accelerators/cuda/module/gather.hpp"
#include "core/secure.hpp"
#include "prim/cuda/machine_code.hpp"

namespace polykem::cuda {

namespace {

/// The oldest compute capability for which kernels are built.
constexpr int kOldestMajor = 7, kOldestMinor = 5;

/// A device that fails this many batches in a row is given up, even if it answers.
constexpr int kMaxFailures = 16;

std::atomic<int> due_fault{static_cast<int>(Fault::kNone)};
std::atomic<int> calls_until_fault{0};

}  // namespace

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // clears the error, so that the next check does not report it again
  throw CudaError{code, std::string(what) + ": " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ")"};
}

void inject(Fault fault, int after) {
  calls_until_fault.store(after);
  due_fault.store(static_cast<int>(fault));
}

void fail_if_due(Fault fault, cudaError_t as, const char* what) {
  if (due_fault.load(std::memory_order_relaxed) != static_cast<int>(fault)) return;
  if (calls_until_fault.fetch_sub(1) != 0) return;
  due_fault.store(static_cast<int>(Fault::kNone));
  throw CudaError{as, std::string(what) + ": " + cudaGetErrorName(as) + " (asked for by a test)"};
}

/// CUDA reports no error for memory that it does not know, so an error says nothing about the pointer.
MemoryLocation location_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return {MemoryKind::kUnknown, -1};
  }
  if (attributes.type == cudaMemoryTypeDevice) return {MemoryKind::kDevice, attributes.device};
  return {attributes.type == cudaMemoryTypeHost ? MemoryKind::kPinned : MemoryKind::kPageable, -1};
}

void DeviceMemory::reserve(size_t bytes) {
  fail_if_due(Fault::kAllocation, cudaErrorMemoryAllocation, "allocating device memory");
  if (bytes <= size_) return;
  release();
  void* fresh = nullptr;
  check(cudaMalloc(&fresh, bytes), "allocating device memory");
  data_ = static_cast<std::byte*>(fresh);
  size_ = bytes;
}

void DeviceMemory::release() noexcept {
  if (data_ != nullptr) (void)cudaFree(data_);
  data_ = nullptr;
  size_ = 0;
}

void PinnedMemory::reserve(size_t bytes) {
  if (bytes <= size_) return;
  release();
  void* fresh = nullptr;
  check(cudaHostAlloc(&fresh, bytes, cudaHostAllocPortable), "allocating pinned host memory");
  data_ = static_cast<std::byte*>(fresh);
  size_ = bytes;
}

void PinnedMemory::release() noexcept {
  zeroize();
  if (data_ != nullptr) (void)cudaFreeHost(data_);
  data_ = nullptr;
  size_ = 0;
}

void PinnedMemory::zeroize() noexcept {
  polykem::zeroize(data_, size_);
}

Event::Event() {
  check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event");
}

Event::~Event() {
  (void)cudaEventDestroy(event_);
}

Stream::Stream(Priority priority) {
  int lowest = 0, highest = 0;
  if (priority != Priority::kDefault)
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for stream priorities");
  const int value = priority == Priority::kDefault ? 0 : priority == Priority::kHigh ? highest : lowest;
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, value), "creating a stream");
}

Stream::~Stream() {
  (void)cudaStreamDestroy(stream_);
}

PartResources::~PartResources() {
  for (const cudaEvent_t event : clock)
    (void)cudaEventDestroy(event);
}

Device::Device(int ordinal) : ordinal_(ordinal) {
  idle_.reserve(kMaxParts);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, ordinal), "reading the device's properties");
  std::memcpy(info_.name, properties.name, sizeof info_.name - 1);
  info_.compute_major = properties.major;
  info_.compute_minor = properties.minor;
  info_.multiprocessors = properties.multiProcessorCount;
  info_.memory_bytes = properties.totalGlobalMem;
  info_.shared_bytes = properties.sharedMemPerBlockOptin;
}

void Device::make_current() const {
  check(cudaSetDevice(ordinal_), "choosing the device");
}

std::unique_ptr<PartResources> Device::take(bool wait) {
  make_current();
  std::unique_lock lock(mutex_);
  if (!wait && lent_ == kMaxParts) return nullptr;
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  changed_.wait(lock, [this] { return lent_ < kMaxParts; });
  ++lent_;
  if (!idle_.empty()) {
    auto resources = std::move(idle_.front());  // the one that was zeroized longest ago
    idle_.erase(idle_.begin());
    return resources;
  }
  lock.unlock();
  try {
    return std::make_unique<PartResources>();
  } catch (...) {
    give_back(nullptr);
    throw;
  }
}

SharedStreams& Device::streams() {
  const std::lock_guard lock(mutex_);
  if (streams_ == nullptr) streams_ = std::make_unique<SharedStreams>();
  return *streams_;
}

void Device::give_back(std::unique_ptr<PartResources> resources) noexcept {
  if (resources != nullptr && resources->dirty > 0 && !zeroize(*resources)) resources.reset();
  {
    const std::lock_guard held(mutex_);
    if (resources != nullptr && !lost()) idle_.push_back(std::move(resources));  // kMaxParts are reserved
    --lent_;
  }
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
  changed_.notify_one();
}

/// Queues a zeroization of what parts left in the arena. Returns false if that fails.
bool Device::zeroize(PartResources& resources) noexcept {
  cudaStream_t stream = resources.stream;
  {
    const std::lock_guard lock(mutex_);
    if (streams_ != nullptr) stream = streams_->zeroize;
  }
  (void)cudaSetDevice(ordinal_);
  const bool queued = cudaMemsetAsync(resources.arena.data(), 0, resources.dirty, stream) == cudaSuccess;
  resources.zeroizing = queued && cudaEventRecord(resources.zeroized, stream) == cudaSuccess;
  const bool good = resources.zeroizing || (cudaStreamSynchronize(stream) == cudaSuccess && queued);
  (void)cudaGetLastError();
  if (good) resources.dirty = 0;
  return good;
}

/// A device whose memory is merely full works.
bool Device::works() noexcept {
  constexpr size_t kBytes = 256;
  DeviceMemory memory;
  try {
    make_current();
    const cudaStream_t stream = streams().keys;
    memory.reserve(kBytes);
    check(cudaMemsetAsync(memory.data(), 0, kBytes, stream), "asking whether the device works");
    check(cudaStreamSynchronize(stream), "asking whether the device works");
    return true;
  } catch (const CudaError& error) {
    return error.code == cudaErrorMemoryAllocation;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

void Device::batch_failed() noexcept {
  const bool too_often = failures_.fetch_add(1, std::memory_order_relaxed) + 1 >= kMaxFailures;
  if (too_often || !works()) lost_.store(true, std::memory_order_relaxed);
}

void Device::trim() {
  const std::lock_guard lock(mutex_);
  for (const auto& resources : idle_) {
    resources->replay.clear();
    resources->arena.release();
    resources->staging.release();
  }
}

size_t Device::part_budget(size_t budget) const {
  return (budget != 0 ? budget : info_.memory_bytes / 4 * 3) / kMaxParts;
}

DeviceManager& DeviceManager::instance() {
  static auto* manager = new DeviceManager;  // never destroyed: the driver may be gone before static destructors run
  return *manager;
}

std::string DeviceManager::unusable(const Device& device) {
  const DeviceInfo& info = device.info();
  if (info.compute_major * 10 + info.compute_minor < kOldestMajor * 10 + kOldestMinor)
    return std::string(info.name) + " is too old: compute capability 7.5 or newer is needed";
  device.make_current();
  const cudaError_t found = find_machine_code();
  if (is_without_code(found)) return without_code(found, info.name, info.compute_major, info.compute_minor);
  check(found, "loading the kernels");
  return "";
}

DeviceManager::DeviceManager() {
  const CallersState callers;
  int count = 0;
  try {
    check(cudaGetDeviceCount(&count), "looking for GPUs");
  } catch (const CudaError& error) {
    problem_ = error.text;
  }
  for (int i = 0; i < count; ++i) {
    try {
      auto device = std::make_unique<Device>(i);
      const std::string problem = unusable(*device);
      if (problem.empty()) {
        devices_.push_back(std::move(device));
      } else {
        problem_ = problem;
      }
    } catch (const CudaError& error) {  // another process has it for itself, or it does not answer
      problem_ = error.text;
    }
  }
  if (devices_.empty() && problem_.empty()) problem_ = "the driver knows of no GPU";
}

Device* DeviceManager::choose() {
  Device* best = nullptr;
  for (const auto& device : devices_) {
    if (!device->lost() && (best == nullptr || device->in_flight() < best->in_flight())) best = device.get();
  }
  return best;
}

Device* DeviceManager::find(int ordinal) {
  for (const auto& device : devices_) {
    if (device->ordinal() == ordinal) return device.get();
  }
  return nullptr;
}

}  // namespace polykem::cuda
