// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/part.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "accelerators/cuda/module/gather.hpp"
#include "accelerators/cuda/module/launches.hpp"
#include "accelerators/cuda/module/overlap.hpp"
#include "core/round.hpp"
#include "core/secure.hpp"
#include "prim/drbg/cuda/coin_block.hpp"

namespace polykem::cuda {

namespace {

constexpr size_t aligned(size_t bytes) {
  return rounded_up(bytes, 256);
}

/// Copies that are queued together, in one call if the runtime has such a call: this shortens the gaps between them.
class Copies {
 public:
  void add(void* to, const void* from, size_t bytes) {
    to_[count_] = to;
    from_[count_] = from;
    bytes_[count_++] = bytes;
  }

  cudaError_t queue(cudaStream_t stream) {
#if CUDART_VERSION >= 13000
    if (count_ > 1) {
      cudaMemcpyAttributes attributes{};
      attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
      size_t first = 0;
      return cudaMemcpyBatchAsync(to_, from_, bytes_, count_, &attributes, &first, 1, stream);
    }
#endif
    for (size_t i = 0; i < count_; ++i) {
      const cudaError_t error = cudaMemcpyAsync(to_[i], from_[i], bytes_[i], cudaMemcpyDefault, stream);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }

 private:
  static constexpr size_t kMax = 12;
  void* to_[kMax];
  const void* from_[kMax];
  size_t bytes_[kMax], count_ = 0;
};

/// Makes the next work of `to` wait for all work queued on `from` so far.
void follow(cudaStream_t to, cudaStream_t from, cudaEvent_t event) {
  check(cudaEventRecord(event, from), "recording an event");
  if (to != from) check(cudaStreamWaitEvent(to, event, 0), "waiting for an event");
}

}  // namespace

Part::Part(Device& device, const LocatedBatch& batch, size_t first, size_t count)
    : device_(device),
      batch_(batch),
      operation_(batch.operation()),
      first_(first),
      count_(count),
      items_(batch.view().slice(operation_.record_bytes, first, count)) {
  list_arrays();
}

void Part::list_arrays() {
  for (size_t i = 0; i < std::size(kRecordFields); ++i) {
    const FieldInfo& f = kRecordFields[i];
    if (f.data(items_) == nullptr) continue;
    Array& a = arrays_[i];
    a.in = f.in != nullptr ? reinterpret_cast<const std::byte*>(items_.*f.in) : nullptr;
    a.out = f.out != nullptr ? reinterpret_cast<std::byte*>(items_.*f.out) : nullptr;
    a.bytes = f.records(items_) * (operation_.record_bytes.*f.bytes);
    a.field = f.field;
    a.kind = batch_.memory_kind(i);
    a.secret = f.secret;
  }
  if (items_.key_index != nullptr) {
    arrays_[kIndex].in = reinterpret_cast<const std::byte*>(items_.key_index);
    arrays_[kIndex].bytes = count_ * sizeof(size_t);
    if (items_.expanded.data == nullptr) {  // the device copies the chosen records side by side
      const FieldInfo& key = key_field(operation_.op);
      arrays_[kChosen].bytes = count_ * (operation_.record_bytes.*key.bytes);
      arrays_[kChosen].kind = MemoryKind::kPinned;  // needs no staging
      arrays_[kChosen].secret = key.secret;
    }
  }
  if (batch_.wants_status()) {
    arrays_[kStatus].out = reinterpret_cast<std::byte*>(items_.item_status);
    arrays_[kStatus].bytes = count_ * sizeof(Status);
    arrays_[kStatus].field = field::kItemStatus;
  }
  list_strings(items_.message.strings, kMessages, kMessageOffsets);
  list_strings(items_.message.contexts, kContexts, kContextOffsets);
}

void Part::list_strings(const Strings& strings, Name bytes, Name offsets) {
  arrays_[bytes].in = reinterpret_cast<const std::byte*>(strings.begin());
  arrays_[bytes].bytes = strings.bytes(count_);
  if (strings.offsets == nullptr) return;
  arrays_[offsets].in = reinterpret_cast<const std::byte*>(strings.offsets);
  arrays_[offsets].bytes = (count_ + 1) * sizeof(size_t);
}

/// Returns the strings as kernels see them. Where all of them are empty, their data is not nullptr, which would mean
/// that there are none.
Strings Part::on_device(const Strings& strings, Name bytes, Name offsets) const {
  if (strings.data == nullptr) return {};
  const std::byte* const data = arrays_[bytes].bytes > 0 ? arrays_[bytes].device : seed_device_;
  return {reinterpret_cast<const uint8_t*>(data), reinterpret_cast<const size_t*>(arrays_[offsets].device),
          strings.width, strings.shared};
}

size_t Part::device_bytes() const {
  size_t total = secret_bytes() + operation_.workspace_bytes(count_) - operation_.zeroized_bytes(count_);
  for (const Array& a : arrays_)
    total += a.needs_device() && !a.secret ? aligned(a.bytes) : 0;
  return total;
}

/// Returns the bytes of the part that may hold secrets. They come first in the arena, because only they are zeroized.
size_t Part::secret_bytes() const {
  size_t total = aligned(kSeedBytes) + operation_.zeroized_bytes(count_);
  for (const Array& a : arrays_)
    total += a.needs_device() && a.secret ? aligned(a.bytes) : 0;
  return total;
}

Part::~Part() {
  if (queued_) abandon();
  if (resources_ != nullptr) device_.give_back(std::move(resources_));
}

void Part::start(std::unique_ptr<PartResources> resources, StepTimes* times) {
  resources_ = std::move(resources);
  streams_ = {resources_->stream, resources_->stream, resources_->stream, resources_->stream};
  times_ = times;
  const bool small = batch_.count() * batch_.item_bytes() <= kSmallBatchBytes;
  side_by_side_ = times_ == nullptr && !small && !items_.shared_key && fills_device(operation_.steps);
  assign_memory();
  fill_device_batch();
  queued_ = true;
  resources_->dirty = std::max(resources_->dirty, secret_bytes());
  copy_to_staging();
  if (times_ != nullptr || small || side_by_side_) return queue(nullptr);
  SharedStreams& shared = device_.streams();
  const std::lock_guard lock(shared.mutex);
  streams_ = {shared.up, shared.early, shared.kernels, shared.down};
  queue(&shared);
}

void Part::queue(SharedStreams* shared) {
  if (resources_->zeroizing) {
    for (const cudaStream_t stream : {streams_.up, streams_.early, streams_.kernels})
      check(cudaStreamWaitEvent(stream, resources_->zeroized, 0), "waiting for an event");
    resources_->zeroizing = false;
  }
  upload();
  steps(shared);
  check(cudaEventRecord(resources_->done, streams_.down), "recording an event");
  if (shared != nullptr) return;  // zeroized after the batch: there is less to zeroize, and nobody waits for it
  check(cudaMemsetAsync(resources_->arena.data(), 0, resources_->dirty, streams_.down), "zeroizing device memory");
  check(cudaEventRecord(resources_->zeroized, streams_.down), "recording an event");
  resources_->zeroizing = true;
  resources_->dirty = 0;
}

std::unique_ptr<PartResources> Part::finish() {
  device_.make_current();
  fail_if_due(Fault::kSynchronize, cudaErrorLaunchFailure, operation_.scheme);
  check(cudaEventSynchronize(resources_->done), operation_.scheme);
  queued_ = false;
  copy_from_staging();
  zeroize_staging();
  if (times_ != nullptr) collect();
  return std::move(resources_);
}

void Part::assign_memory() {
  size_t staging = aligned(kSeedBytes);
  for (const Array& a : arrays_)
    staging += a.needs_staging() ? aligned(a.bytes) : 0;
  if (resources_->arena.size() < device_bytes() && !zeroize_arena())
    throw CudaError{cudaErrorUnknown, "zeroizing device memory before more is allocated"};
  resources_->arena.reserve(device_bytes());
  resources_->staging.reserve(staging);
  std::byte* device = resources_->arena.data();
  std::byte* host = resources_->staging.data();
  const auto take = [](std::byte*& from, size_t bytes) {
    std::byte* taken = from;
    from += aligned(bytes);
    return taken;
  };
  seed_device_ = take(device, kSeedBytes);
  seed_staged_ = take(host, kSeedBytes);
  const auto take_arrays = [&](bool secret) {
    for (Array& a : arrays_)
      if (a.needs_device() && a.secret == secret) a.device = take(device, a.bytes);
  };
  take_arrays(true);
  workspace_ = device;
  device += operation_.workspace_bytes(count_);
  take_arrays(false);
  for (Array& a : arrays_) {
    if (a.kind == MemoryKind::kDevice) a.device = a.in != nullptr ? const_cast<std::byte*>(a.in) : a.out;
    if (a.needs_staging()) a.staged = take(host, a.bytes);
  }
}

void Part::fill_device_batch() {
  device_batch_ = {};
  device_batch_.count = count_;
  device_batch_.shared_key = items_.shared_key;
  device_batch_.seed = reinterpret_cast<const uint32_t*>(seed_device_);
  device_batch_.overlapped = side_by_side_ && batch_.count() >= 3 * count_;
  for (size_t i = 0; i < std::size(kRecordFields); ++i) {
    const FieldInfo& f = kRecordFields[i];
    auto* device = reinterpret_cast<uint8_t*>(arrays_[i].device);
    if (f.in != nullptr) device_batch_.*f.in = device;
    if (f.out != nullptr) device_batch_.*f.out = device;
  }
  device_batch_.item_status = reinterpret_cast<Status*>(arrays_[kStatus].device);
  device_batch_.expanded = items_.expanded;
  device_batch_.message = items_.message;
  device_batch_.message.strings = on_device(items_.message.strings, kMessages, kMessageOffsets);
  device_batch_.message.contexts = on_device(items_.message.contexts, kContexts, kContextOffsets);
  if (arrays_[kChosen].bytes > 0) {
    device_batch_.*key_field(operation_.op).in = reinterpret_cast<uint8_t*>(arrays_[kChosen].device);
  } else if (items_.key_index != nullptr) {
    device_batch_.key_index = device_batch_.expanded.index = reinterpret_cast<size_t*>(arrays_[kIndex].device);
  }
}

/// Makes the part's own seed: the index of items restarts with every part.
void Part::stage_seed() {
  uint32_t seed[kSeedBytes / 4], block[kChaChaWords];
  std::memcpy(seed, batch_.seed(), kSeedBytes);
  make_coin_block(block, seed, CoinDomain::kPart, first_, 0);
  std::memcpy(seed_staged_, block, kSeedBytes);
  zeroize(seed, sizeof seed);
  zeroize(block, sizeof block);
}

/// Copies the inputs that lie in ordinary host memory, and the seed, into pinned memory.
void Part::copy_to_staging() {
  stage_seed();
  for (const Array& a : arrays_) {
    if (a.in != nullptr && a.needs_staging()) std::memcpy(a.staged, a.in, a.bytes);
  }
}

void Part::upload() {
  marks_.clear();
  mark(0, streams_.up);
  Copies copies;
  for (const Array& a : arrays_) {
    if (a.in == nullptr || !a.needs_device()) continue;
    copies.add(a.device, a.needs_staging() ? a.staged : a.in, a.bytes);
  }
  check(copies.queue(streams_.up), "copying to the device");
  mark(0, streams_.up);
  check(cudaEventRecord(resources_->uploaded, streams_.up), "recording an event");
}

void Part::steps(SharedStreams* shared) {
  /// Smaller outputs are copied with the rest: a copy of their own would cost more than it gains.
  constexpr size_t kMinEarlyBytes = size_t{1} << 20;
  const size_t end = operation_.steps.size();
  const Overlap overlap = overlap_of(operation_.steps);
  const size_t early = shared != nullptr && batch_.makes_coins() ? overlap.early_steps : 0;
  const size_t late = shared != nullptr ? overlap.late_step : end;
  if (early > 0) {
    check(cudaStreamWaitEvent(streams_.early, shared->late, 0), "waiting for an event");
    launch(0, early, streams_.early);
    follow(streams_.kernels, streams_.early, resources_->begun);
  }
  const auto record_late_event = [&] {
    if (shared != nullptr) check(cudaEventRecord(shared->late, streams_.kernels), "recording an event");
  };
  if (early == late) record_late_event();
  wait_for_upload();
  if (early < late) {
    launch(early, late, streams_.kernels);
    record_late_event();
  }
  size_t early_bytes = 0;
  for (const Array& a : arrays_)
    early_bytes += (a.field & overlap.early_outputs) != 0 && a.needs_device() ? a.bytes : 0;
  const bool in_two = late < end && early_bytes >= kMinEarlyBytes;
  if (in_two) {
    follow(streams_.down, streams_.kernels, resources_->late);
    download(overlap.early_outputs);
  }
  if (late < end) launch(late, end, streams_.kernels);
  follow(streams_.down, streams_.kernels, resources_->computed);
  download(in_two ? field::kOutputs & ~overlap.early_outputs : field::kOutputs);
  mark(end + 1, streams_.down);
}

void Part::launch(size_t first_step, size_t end_step, cudaStream_t stream) {
  // Only kernels can be recorded: not the copy of the caller's coins, and not events. A digest's object identifier,
  // which is the caller's, is a part of the launch.
  const bool names_hash = items_.message.kind == MessageKind::kDigest;
  if (times_ != nullptr || items_.coins != nullptr || side_by_side_ || names_hash) {
    queue_steps(first_step, end_step, stream);
    return;
  }
  resources_->replay.run({&operation_, first_step, end_step, device_batch_, workspace_, seed_staged_}, stream,
                         [&] { queue_steps(first_step, end_step, stream); });
}

/// A kernel fetches the seed: a copy engine would do so only after the records of other parts.
void Part::queue_steps(size_t first_step, size_t end_step, cudaStream_t stream) {
  if (first_step == 0 && batch_.makes_coins())
    check(read_from_host(seed_device_, seed_staged_, kSeedBytes, stream), "copying the seed");
  for_each_launch(operation_, device_batch_, first_step, end_step,
                  [&](size_t step, size_t tile) { run_step(step, tile, stream); });
}

void Part::run_step(size_t step, size_t tile, cudaStream_t stream) {
  const char* name = operation_.steps[step].info.name;
  fail_if_due(Fault::kStep, cudaErrorLaunchFailure, name);
  const bool apart = side_by_side_ && operation_.steps[step].fills_device;
  const cudaStream_t on = apart ? resources_->filling : stream;
  if (apart) follow(on, stream, resources_->begun);
  check(static_cast<cudaError_t>(operation_.run_step(step, tile, device_batch_, workspace_, on)), name);
  if (apart) follow(stream, on, resources_->late);
  mark(step + 1, stream);
}

/// Makes the next step wait for the upload.
void Part::wait_for_upload() {
  if (device_batch_.item_status != nullptr)
    check(cudaMemsetAsync(device_batch_.item_status, 0, arrays_[kStatus].bytes, streams_.kernels), "clearing status");
  if (operation_.op == Op::kKeygen && items_.coins == nullptr) return;
  if (streams_.up != streams_.kernels)
    check(cudaStreamWaitEvent(streams_.kernels, resources_->uploaded, 0), "waiting for an event");
  if (arrays_[kChosen].bytes == 0) return;
  check(gather(reinterpret_cast<uint8_t*>(arrays_[kChosen].device), items_.*key_field(operation_.op).in,
               reinterpret_cast<const uint64_t*>(arrays_[kIndex].device), arrays_[kChosen].bytes / count_, count_,
               streams_.kernels),
        "gathering keys");
}

void Part::download(Fields fields) {
  Copies copies;
  for (const Array& a : arrays_) {
    if (a.out == nullptr || !a.needs_device() || (a.field & fields) == 0) continue;
    copies.add(a.needs_staging() ? a.staged : a.out, a.device, a.bytes);
  }
  check(copies.queue(streams_.down), "copying from the device");
}

void Part::copy_from_staging() {
  for (const Array& a : arrays_) {
    if (a.out != nullptr && a.needs_staging()) std::memcpy(a.out, a.staged, a.bytes);
  }
}

void Part::zeroize_staging() {
  zeroize(seed_staged_, kSeedBytes);
  for (const Array& a : arrays_) {
    if (a.secret) zeroize(a.staged, a.bytes);
  }
}

/// Zeroizes what earlier parts left in the arena, and waits. Returns false if that fails.
bool Part::zeroize_arena() {
  if (resources_->dirty == 0) return true;
  const bool good =
      cudaMemsetAsync(resources_->arena.data(), 0, resources_->dirty, resources_->stream) == cudaSuccess &&
      cudaStreamSynchronize(resources_->stream) == cudaSuccess;
  if (good) resources_->dirty = 0;
  return good;
}

void Part::abandon() {
  (void)cudaSetDevice(device_.ordinal());
  for (const cudaStream_t stream : std::initializer_list<cudaStream_t>{resources_->filling, streams_.up, streams_.early,
                                                                       streams_.kernels, streams_.down})
    (void)cudaStreamSynchronize(stream);
  (void)zeroize_arena();  // if that fails, the device will try again before it lends or frees the memory
  (void)cudaGetLastError();
  zeroize_staging();
}

/// If there are `times_`, adds the time since the previous mark to an entry.
void Part::mark(size_t entry, cudaStream_t stream) {
  if (times_ == nullptr) return;
  if (resources_->clock.size() == marks_.size()) {
    cudaEvent_t event;
    check(cudaEventCreate(&event), "creating an event");
    resources_->clock.push_back(event);
  }
  check(cudaEventRecord(resources_->clock[marks_.size()], stream), "recording an event");
  marks_.push_back(entry);
}

void Part::collect() {
  std::array<bool, kMaxSteps> seen{};
  for (size_t i = 1; i < marks_.size(); ++i) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, resources_->clock[i - 1], resources_->clock[i]), "reading an event");
    auto& entry = times_->entries[marks_[i]];
    entry.calls += 1;
    entry.items += seen[marks_[i]] ? 0 : count_;
    entry.nanoseconds += static_cast<uint64_t>(milliseconds * 1e6F);
    seen[marks_[i]] = true;
  }
}

}  // namespace polykem::cuda
