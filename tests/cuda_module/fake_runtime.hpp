// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime without a GPU: two devices whose memory is the host's. Queued work runs as late as possible, when
// something waits for it, so that a missing dependency does not go unnoticed by chance; after shuffle() it runs at
// random times. It has no functions for the legacy default stream: a capture of the application's would break.
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
/// From now on streams run ahead at random, differently for each seed; 0: as late as possible again.
void shuffle(unsigned seed);
/// The stream counts as being captured into a graph.
void capture(cudaStream_t stream);
/// While true, some thread of the application captures a stream in CUDA's global mode: calls that allocate, free or
/// wait fail and break the capture, except in threads whose own mode is relaxed (seen so on an H200, CUDA 13).
void capture_globally(bool on);
/// The number of calls that broke a capture.
size_t broken_captures();
/// While true, every call for the device fails, as after a kernel that trapped.
void break_device(int device, bool on);
/// The nth call from now on that can fail does; 0: none. name: only calls of this function count; nullptr: all.
void fail_call(int nth, const char* name = nullptr);
/// The name of the call that failed; nullptr if none has.
const char* failed();
/// Before the devices are opened: each has so many multiprocessors.
void have_multiprocessors(int number);
/// From now on the first call takes so long, and at exit the runtime is torn down, as the driver is: a call that is
/// under way then or comes later ends the process with status 99.
void start_slowly(int milliseconds);
/// Runs all that was queued anywhere.
void run_all();
/// The number of pieces of work that the device was given.
size_t queued(int device);
/// Launches of graphs.
size_t replayed();
/// True if some device's memory holds these bytes.
bool device_memory_has(const std::vector<unsigned char>& bytes);
/// True if all these bytes lie in one allocation of some device's memory.
bool in_device_memory(const void* begin, size_t bytes);
/// True if pinned host memory holds these bytes.
bool pinned_memory_has(const std::vector<unsigned char>& bytes);

}  // namespace fake_runtime
