// SPDX-License-Identifier: Apache-2.0
#include "fake_runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "core/device.hpp"
#include "prim/cuda/multiprocessors.hpp"

struct CUgraph_st {
  std::vector<std::function<void()>> work;
  /// The latest node: any address that differs from those of the other nodes.
  cudaGraphNode_t last() const { return reinterpret_cast<cudaGraphNode_t>(work.size()); }
};

struct CUgraphExec_st : CUgraph_st {};

struct CUstream_st {
  int device;
  std::vector<std::function<void()>> work;
  size_t done = 0;

  void run_until(size_t end) {
    while (done < end) {
      const auto next = std::move(work[done++]);
      next();
    }
  }
};

struct CUevent_st {
  int device;
  CUstream_st* stream = nullptr;  ///< of the last record
  size_t position = 0;

  void complete() const {
    if (stream != nullptr) stream->run_until(position);
  }
};

namespace {

struct Block {
  size_t bytes;
  int device;  ///< -1: pinned host memory
};

std::recursive_mutex mutex;
std::map<uintptr_t, Block> blocks;
std::vector<std::vector<unsigned char>> freed;      ///< what device memory held when it was freed
std::vector<std::unique_ptr<CUstream_st>> streams;  // never destroyed before the process ends
size_t queued_on[fake_runtime::kDevices];
size_t replays = 0;
bool shuffled = false;
std::minstd_rand chance;
thread_local int current = 0;
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;
std::atomic<bool> captured_globally{false};
std::atomic<size_t> captures_broken{0};
std::array<std::atomic<bool>, fake_runtime::kDevices> device_broken{};
cudaStream_t captured = reinterpret_cast<cudaStream_t>(1);  ///< none

using Lock = std::lock_guard<std::recursive_mutex>;

cudaError_t allocate(void** to, size_t bytes, int device) {
  const Lock lock(mutex);
  *to = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*to, 0xcd, bytes);
  blocks[reinterpret_cast<uintptr_t>(*to)] = {bytes, device};
  return cudaSuccess;
}

cudaError_t release(void* memory) {
  const Lock lock(mutex);
  fake_runtime::run_all();
  if (memory == nullptr) return cudaSuccess;
  const auto block = blocks.find(reinterpret_cast<uintptr_t>(memory));
  if (block == blocks.end()) return cudaErrorInvalidValue;
  const auto* bytes = static_cast<const unsigned char*>(memory);
  if (block->second.device >= 0) freed.emplace_back(bytes, bytes + block->second.bytes);
  blocks.erase(block);
  std::free(memory);
  return cudaSuccess;
}

/// Every kernel of the tests takes one pointer.
std::function<void()> bound(const void* kernel, void** arguments) {
  const auto function = reinterpret_cast<void (*)(const void*)>(const_cast<void*>(kernel));
  return [function, argument = *static_cast<const void**>(arguments[0])] { function(argument); };
}

const Block* find(const void* pointer) {
  const auto at = reinterpret_cast<uintptr_t>(pointer);
  auto next = blocks.upper_bound(at);
  if (next == blocks.begin()) return nullptr;
  --next;
  return at < next->first + next->second.bytes ? &next->second : nullptr;
}

/// True if some block of pinned memory, or of device memory, holds these bytes.
bool memory_has(bool pinned, const std::vector<unsigned char>& bytes) {
  const Lock lock(mutex);
  const auto has = [&](const unsigned char* begin, size_t size) {
    return std::search(begin, begin + size, bytes.begin(), bytes.end()) != begin + size;
  };
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const auto& entry) {
                       return (entry.second.device < 0) == pinned &&
                              has(reinterpret_cast<const unsigned char*>(entry.first), entry.second.bytes);
                     }) ||
         (!pinned && std::ranges::any_of(freed, [&](const auto& block) { return has(block.data(), block.size()); }));
}

std::atomic<int> start_ms{-1};  ///< -1: it is not torn down at exit
int multiprocessors = polykem::cuda::kMeasuredMultiprocessors;
std::atomic<bool> torn_down{false};

/// Ends the process if the runtime has been torn down.
void needs_the_runtime() {
  if (torn_down) std::_Exit(99);
}

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (start_ms < 0) return;
    (void)std::atexit([] {
      torn_down = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // so that a thread inside notices
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(start_ms);
    while (std::chrono::steady_clock::now() < end) {
      needs_the_runtime();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

int calls_until_fault = 0;           ///< 0: no fault is planned
const char* counted_call = nullptr;  ///< nullptr: all calls count
const char* failed_call = nullptr;

/// True if this call is the one that must fail.
bool fails(const char* name) {
  needs_the_runtime();
  const Lock lock(mutex);
  if (device_broken[static_cast<size_t>(current)]) return true;
  if (counted_call != nullptr && std::strcmp(counted_call, name) != 0) return false;
  if (calls_until_fault == 0 || --calls_until_fault != 0) return false;
  failed_call = name;
  return true;
}

/// True if a capture forbids the calling thread to allocate and free memory.
bool breaks_capture() {
  if (!captured_globally || mode_of_thread == cudaStreamCaptureModeRelaxed) return false;
  ++captures_broken;
  return true;
}

/// Runs the next work of some stream, if that stream has any.
void run_something() {
  CUstream_st& stream = *streams[chance() % streams.size()];
  stream.run_until(std::min(stream.work.size(), stream.done + chance() % 4));
}

}  // namespace

namespace fake_runtime {

cudaError_t queue(cudaStream_t stream, std::function<void()> work) {
  const Lock lock(mutex);
  if (stream == nullptr || stream->device != current) return cudaErrorInvalidResourceHandle;
  stream->work.push_back(std::move(work));
  ++queued_on[current];
  if (shuffled) run_something();
  return cudaSuccess;
}

void shuffle(unsigned seed) {
  const Lock lock(mutex);
  shuffled = seed != 0;
  chance.seed(seed);
}

void capture(cudaStream_t stream) {
  captured = stream;
}

void capture_globally(bool on) {
  captured_globally = on;
}

size_t broken_captures() {
  return captures_broken;
}

void break_device(int device, bool on) {
  device_broken[static_cast<size_t>(device)] = on;
}

void fail_call(int nth, const char* name) {
  const Lock lock(mutex);
  calls_until_fault = nth;
  counted_call = name;
  if (nth > 0) failed_call = nullptr;
}

const char* failed() {
  const Lock lock(mutex);
  return failed_call;
}

void have_multiprocessors(int number) {
  multiprocessors = number;
}

void start_slowly(int milliseconds) {
  start_ms = milliseconds;
}

void run_all() {
  const Lock lock(mutex);
  for (const auto& stream : streams)
    stream->run_until(stream->work.size());
}

size_t queued(int device) {
  const Lock lock(mutex);
  return queued_on[device];
}

size_t replayed() {
  const Lock lock(mutex);
  return replays;
}

bool device_memory_has(const std::vector<unsigned char>& bytes) {
  return memory_has(false, bytes);
}

bool in_device_memory(const void* begin, size_t bytes) {
  const Lock lock(mutex);
  const Block* block = find(begin);
  return block != nullptr && block->device >= 0 &&
         (bytes == 0 || find(static_cast<const unsigned char*>(begin) + bytes - 1) == block);
}

bool pinned_memory_has(const std::vector<unsigned char>& bytes) {
  return memory_has(true, bytes);
}

}  // namespace fake_runtime

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  start();
  *count = fake_runtime::kDevices;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "Fake GPU");
  properties->major = 9;
  properties->multiProcessorCount = multiprocessors;
  properties->totalGlobalMem = size_t{1} << 30;
  properties->sharedMemPerBlockOptin = fake_runtime::kSharedBytes;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = multiprocessors;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  start();
  needs_the_runtime();
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (fails("cudaSetDevice")) return cudaErrorLaunchFailure;
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t) {
  return "a simulated error";
}
const char* cudaGetErrorString(cudaError_t) {
  return "of the fake runtime";
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** to, size_t bytes) {
  if (breaks_capture()) return cudaErrorStreamCaptureUnsupported;
  if (fails("cudaMalloc")) return cudaErrorMemoryAllocation;
  return allocate(to, bytes, current);
}
cudaError_t cudaHostAlloc(void** to, size_t bytes, unsigned) {
  if (breaks_capture()) return cudaErrorStreamCaptureUnsupported;
  if (fails("cudaHostAlloc")) return cudaErrorMemoryAllocation;
  return allocate(to, bytes, -1);
}
cudaError_t cudaFree(void* memory) {
  if (breaks_capture()) return cudaErrorStreamCaptureUnsupported;
  return release(memory);
}
cudaError_t cudaFreeHost(void* memory) {
  if (breaks_capture()) return cudaErrorStreamCaptureUnsupported;
  return release(memory);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (fails("cudaPointerGetAttributes")) return cudaErrorLaunchFailure;
  const Lock lock(mutex);
  const Block* block = find(pointer);
  *attributes = {};
  attributes->type = block == nullptr     ? cudaMemoryTypeUnregistered
                     : block->device >= 0 ? cudaMemoryTypeDevice
                                          : cudaMemoryTypeHost;
  attributes->device = block == nullptr ? -1 : block->device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = *highest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  if (fails("cudaStreamCreateWithPriority")) return cudaErrorLaunchFailure;
  const Lock lock(mutex);
  streams.push_back(std::make_unique<CUstream_st>(CUstream_st{current, {}}));
  *stream = streams.back().get();
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = stream == captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (breaks_capture()) return cudaErrorStreamCaptureUnsupported;
  if (fails("cudaStreamSynchronize")) return cudaErrorLaunchFailure;
  const Lock lock(mutex);
  stream->run_until(stream->work.size());
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (fails("cudaStreamWaitEvent")) return cudaErrorLaunchFailure;
  const CUevent_st seen = *event;  // only what has been recorded so far counts
  return fake_runtime::queue(stream, [seen] { seen.complete(); });
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void** arguments, size_t, cudaStream_t stream) {
  if (fails("cudaLaunchKernel")) return cudaErrorLaunchFailure;
  return fake_runtime::queue(stream, bound(kernel, arguments));
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  if (fails("cudaGraphCreate")) return cudaErrorLaunchFailure;
  *graph = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   size_t count, const cudaKernelNodeParams* launch) {
  if (fails("cudaGraphAddKernelNode")) return cudaErrorLaunchFailure;
  const bool in_order = graph->work.empty() ? count == 0 : count == 1 && *before == graph->last();
  if (!in_order) return cudaErrorInvalidValue;
  graph->work.push_back(bound(launch->func, launch->kernelParams));
  *node = graph->last();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long) {
  if (fails("cudaGraphInstantiate")) return cudaErrorLaunchFailure;
  *ready = new CUgraphExec_st{*graph};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (fails("cudaGraphLaunch")) return cudaErrorLaunchFailure;
  const Lock lock(mutex);
  ++replays;
  return fake_runtime::queue(stream, [work = graph->work] {
    for (const auto& launch : work)
      launch();
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (fails("cudaEventCreateWithFlags")) return cudaErrorLaunchFailure;
  *event = new CUevent_st{current};
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (fails("cudaEventRecord")) return cudaErrorLaunchFailure;
  const Lock lock(mutex);
  if (stream == nullptr || event->device != stream->device) return cudaErrorInvalidResourceHandle;
  event->stream = stream;
  event->position = stream->work.size();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (fails("cudaEventSynchronize")) return cudaErrorLaunchFailure;
  const Lock lock(mutex);
  event->complete();
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  if (fails("cudaEventElapsedTime")) return cudaErrorLaunchFailure;
  *milliseconds = 1;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  if (fails("cudaMemcpyAsync")) return cudaErrorLaunchFailure;
  return fake_runtime::queue(stream, [=] { std::memcpy(to, from, bytes); });
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes, size_t count,
                                 cudaMemcpyAttributes*, size_t*, size_t, cudaStream_t stream) {
  for (size_t i = 0; i < count; ++i) {
    const cudaError_t error = cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
#endif
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  if (fails("cudaMemsetAsync")) return cudaErrorLaunchFailure;
  return fake_runtime::queue(stream, [=] { std::memset(memory, value, bytes); });
}

}  // extern "C"
