// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime without a GPU: two devices whose memory is the host's. Queued work runs as late as possible, when
// something waits for it, so that a missing dependency shows; after shuffle() it runs at random times. It has no
// functions for the legacy default stream, since using it would break an application's capture.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace fake_runtime {

constexpr int kDevices = 2;
constexpr size_t kSharedBytes = size_t{99} << 10;  ///< the most shared memory of a block

/// Queues work on a stream of the current device.
cudaError_t queue(cudaStream_t stream, std::function<void()> work);
/// From now on streams run ahead at random, depending on the seed; 0: as late as possible again.
void shuffle(unsigned seed);
/// Makes the stream count as captured into a graph.
void capture(cudaStream_t stream);
/// While true, some thread of the application captures a stream in CUDA's global mode: calls that allocate, free or
/// wait fail and break the capture, except in threads whose own mode is relaxed (seen so on an H200, CUDA 13).
void capture_globally(bool on);
/// The number of calls that broke a capture.
size_t broken_captures();
/// While true, every call for the device fails, as after a kernel that trapped.
void break_device(int device, bool on);
/// Makes the nth further call that can fail do so; 0: none. name: counts only calls of this function; nullptr: all.
void fail_call(int nth, const char* name = nullptr);
/// The name of the call that failed; nullptr if none has.
const char* failed();
/// Sets the number of multiprocessors of each device. Call it before devices are opened.
void have_multiprocessors(int number);
/// Makes the first call take this long, and tears the runtime down at exit, as the driver is: a call that is in
/// progress then or comes later ends the process with status 99.
void start_slowly(int milliseconds);
/// Runs everything that is queued.
void run_all();
/// Returns the number of operations that were queued on the device.
size_t queued(int device);
/// Returns the number of launches of graphs.
size_t replayed();
/// True if some device's memory holds these bytes, or held them when it was freed.
bool device_memory_has(const std::vector<unsigned char>& bytes);
/// True if all these bytes lie in one allocation of some device's memory.
bool in_device_memory(const void* begin, size_t bytes);
/// True if pinned host memory holds these bytes.
bool pinned_memory_has(const std::vector<unsigned char>& bytes);

}  // namespace fake_runtime
