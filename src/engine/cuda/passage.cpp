// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/passage.hpp"

#include <algorithm>
#include <cstring>

#include "engine/cuda/gather.hpp"

namespace polykem::cuda {

namespace {

constexpr size_t aligned(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

void wipe_host(std::byte* memory, size_t bytes) {
  if (memory == nullptr) return;
  std::memset(memory, 0, bytes);
  asm volatile("" : : "r"(memory) : "memory");
}

/// Copies that are queued together, in one call where the runtime has it: the gaps between them are shorter.
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
  static constexpr size_t kMost = 6;
  void* to_[kMost];
  const void* from_[kMost];
  size_t bytes_[kMost], count_ = 0;
};

/// What `to` does next comes after what `from` has been given so far.
void follow(cudaStream_t to, cudaStream_t from, cudaEvent_t event) {
  check(cudaEventRecord(event, from), "recording an event");
  if (to != from) check(cudaStreamWaitEvent(to, event, 0), "waiting for an event");
}

}  // namespace

Passage::Passage(Device& device, const DeviceOperation& operation, const ModuleBatch& batch, size_t first, size_t count)
    : device_(device), operation_(operation), batch_(batch), first_(first), count_(count) {
  const RecordBytes& sizes = operation.record_bytes;
  input(kDraws, batch.draws, sizes.draws, first, count, true);
  input(kCt, batch.ct, sizes.ct, first, count, false);
  if (batch.key_index != nullptr) {
    // The key records stay where they are; the chosen ones are copied side by side there.
    const bool public_keys = operation.op == Op::encaps;
    input(kIndex, batch.key_index, sizeof(size_t), first, count, false);
    arrays_[public_keys ? kPk : kSk] = {.in = public_keys ? batch.pk : batch.sk, .kind = Place::Kind::device};
    arrays_[kGathered] = {.record_bytes = public_keys ? sizes.pk : sizes.sk, .records = count};
    arrays_[kGathered].kind = Place::Kind::pinned;  // nothing to stage
    arrays_[kGathered].secret = !public_keys;
  } else {
    const size_t key_first = batch.shared_key ? 0 : first, keys = batch.shared_key ? 1 : count;
    input(kPk, batch.pk, sizes.pk, key_first, keys, false);
    input(kSk, batch.sk, sizes.sk, key_first, keys, true);
  }
  output(kPkOut, batch.pk_out, sizes.pk, first, count, false);
  output(kSkOut, batch.sk_out, sizes.sk, first, count, true);
  output(kCtOut, batch.ct_out, sizes.ct, first, count, false);
  output(kSsOut, batch.ss_out, sizes.ss, first, count, true);
}

void Passage::input(Name name, const void* from, size_t record_bytes, size_t first, size_t records, bool secret) {
  if (from == nullptr) return;
  arrays_[name] = {.in = static_cast<const uint8_t*>(from) + first * record_bytes,
                   .record_bytes = record_bytes,
                   .records = records,
                   .kind = place_of(from).kind,
                   .secret = secret};
}

void Passage::output(Name name, uint8_t* to, size_t record_bytes, size_t first, size_t records, bool secret) {
  if (to == nullptr) return;
  arrays_[name] = {.out = to + first * record_bytes,
                   .record_bytes = record_bytes,
                   .records = records,
                   .kind = place_of(to).kind,
                   .secret = secret};
}

size_t Passage::device_bytes() const {
  size_t total = secret_bytes();
  for (const Array& a : arrays_)
    total += a.needs_device() && !a.secret ? aligned(a.bytes()) : 0;
  return total;
}

/// They come first in the arena: only they are wiped.
size_t Passage::secret_bytes() const {
  size_t total = aligned(kSeedBytes) + operation_.workspace_bytes(count_);
  for (const Array& a : arrays_)
    total += a.needs_device() && a.secret ? aligned(a.bytes()) : 0;
  return total;
}

Passage::~Passage() {
  if (queued_) abandon();
  if (lane_ != nullptr) device_.give_back(std::move(lane_));
}

void Passage::start(std::unique_ptr<Lane> lane, StepTimes* times) {
  lane_ = std::move(lane);
  times_ = times;
  place();
  queued_ = true;
  lane_->dirty = std::max(lane_->dirty, secret_bytes());
  stage();
  if (times_ != nullptr) lane_->reserve_clock(operation_.steps.size() + 3);
  if (times_ != nullptr || batch_.count <= kFewItems) {
    streams_ = {lane_->stream, lane_->stream, lane_->stream, lane_->stream};
    queue(nullptr);
    return;
  }
  Conveyor& conveyor = device_.conveyor();
  const std::lock_guard lock(conveyor.mutex);
  streams_ = {conveyor.up, conveyor.early, conveyor.kernels, conveyor.down};
  queue(&conveyor);
}

void Passage::queue(Conveyor* conveyor) {
  if (lane_->wiping) {
    for (const cudaStream_t stream : {streams_.up, streams_.early, streams_.kernels})
      check(cudaStreamWaitEvent(stream, lane_->wiped, 0), "waiting for an event");
    lane_->wiping = false;
  }
  upload();
  steps(conveyor);
  check(cudaEventRecord(lane_->done, streams_.down), "recording an event");
  if (conveyor != nullptr) return;  // the lane is wiped when the batch is done: less to wipe, and behind it
  check(cudaMemsetAsync(lane_->arena.data(), 0, lane_->dirty, streams_.down), "wiping device memory");
  check(cudaEventRecord(lane_->wiped, streams_.down), "recording an event");
  lane_->wiping = true;
  lane_->dirty = 0;
}

std::unique_ptr<Lane> Passage::finish() {
  device_.make_current();
  fail_if_due(Fault::synchronize, cudaErrorLaunchFailure, operation_.scheme);
  check(cudaEventSynchronize(lane_->done), operation_.scheme);
  queued_ = false;
  unstage();
  wipe_staging();
  if (times_ != nullptr) collect();
  return std::move(lane_);
}

void Passage::place() {
  size_t staging = aligned(kSeedBytes);
  for (const Array& a : arrays_)
    staging += a.needs_staging() ? aligned(a.bytes()) : 0;
  lane_->arena.reserve(device_bytes());
  lane_->staging.reserve(staging);
  std::byte* device = lane_->arena.data();
  std::byte* host = lane_->staging.data();
  const auto take = [](std::byte*& from, size_t bytes) {
    std::byte* taken = from;
    from += aligned(bytes);
    return taken;
  };
  seed_device_ = take(device, kSeedBytes);
  seed_staged_ = take(host, kSeedBytes);
  workspace_ = device;
  device += operation_.workspace_bytes(count_);
  for (const bool secret : {true, false}) {
    for (Array& a : arrays_) {
      if (a.needs_device() && a.secret == secret) a.device = reinterpret_cast<uint8_t*>(take(device, a.bytes()));
    }
  }
  for (Array& a : arrays_) {
    if (a.kind == Place::Kind::device) a.device = a.in != nullptr ? const_cast<uint8_t*>(a.in) : a.out;
    if (a.needs_staging()) a.staged = take(host, a.bytes());
  }
  const bool gathered = batch_.key_index != nullptr;
  const bool public_keys = operation_.op == Op::encaps;
  device_batch_ = {.count = count_,
                   .shared_key = batch_.shared_key,
                   .draws = arrays_[kDraws].device,
                   .seed = reinterpret_cast<const uint32_t*>(seed_device_),
                   .pk = arrays_[gathered && public_keys ? kGathered : kPk].device,
                   .sk = arrays_[gathered && !public_keys ? kGathered : kSk].device,
                   .ct = arrays_[kCt].device,
                   .pk_out = arrays_[kPkOut].device,
                   .sk_out = arrays_[kSkOut].device,
                   .ct_out = arrays_[kCtOut].device,
                   .ss_out = arrays_[kSsOut].device};
}

/// The host's part of the way in.
void Passage::stage() {
  std::memcpy(seed_staged_, batch_.seed, kSeedBytes);
  // Items of different passages must not draw the same numbers: their index restarts with every passage.
  for (size_t b = 0; b < sizeof first_; ++b)
    seed_staged_[b] ^= static_cast<std::byte>(first_ >> (8 * b));
  for (const Array& a : arrays_) {
    if (a.in != nullptr && a.needs_staging()) std::memcpy(a.staged, a.in, a.bytes());
  }
}

void Passage::upload() {
  mark(0, streams_.up);
  Copies copies;
  for (const Array& a : arrays_) {
    if (a.in == nullptr || !a.needs_device()) continue;
    copies.add(a.device, a.needs_staging() ? static_cast<const void*>(a.staged) : a.in, a.bytes());
  }
  check(copies.queue(streams_.up), "copying to the device");
  mark(1, streams_.up);
  check(cudaEventRecord(lane_->uploaded, streams_.up), "recording an event");
}

void Passage::steps(Conveyor* conveyor) {
  const size_t end = operation_.steps.size(), late = conveyor != nullptr ? operation_.late_step : end;
  const size_t early = conveyor == nullptr || batch_.draws != nullptr ? 0 : operation_.early_steps;
  if (early > 0) {
    check(cudaStreamWaitEvent(streams_.early, conveyor->late, 0), "waiting for an event");
    launch(0, early, streams_.early);
    follow(streams_.kernels, streams_.early, lane_->begun);
  }
  const auto comes_to_late = [&] {
    if (conveyor != nullptr) check(cudaEventRecord(conveyor->late, streams_.kernels), "recording an event");
  };
  if (early == late) comes_to_late();
  arrive();
  if (early < late) {
    launch(early, late, streams_.kernels);
    comes_to_late();
  }
  const bool sk_leaves_first = late < end && arrays_[kSkOut].needs_device();
  if (sk_leaves_first) {
    follow(streams_.down, streams_.kernels, lane_->late);
    download({kSkOut});
  }
  if (late < end) launch(late, end, streams_.kernels);
  follow(streams_.down, streams_.kernels, lane_->computed);
  if (sk_leaves_first) {
    download({kPkOut, kCtOut, kSsOut});
  } else {
    download({kPkOut, kSkOut, kCtOut, kSsOut});
  }
  mark(end + 2, streams_.down);
}

void Passage::launch(size_t first_step, size_t end_step, cudaStream_t stream) {
  // Draws of the caller's are copied, and times are taken by events: neither is a kernel.
  if (times_ != nullptr || batch_.draws != nullptr) {
    queue_steps(first_step, end_step, stream);
    return;
  }
  lane_->replay.run({&operation_, first_step, end_step, device_batch_, workspace_, seed_staged_}, stream,
                    [&] { queue_steps(first_step, end_step, stream); });
}

/// The seed is fetched by a kernel: a copy engine would do it behind the records of other passages.
void Passage::queue_steps(size_t first_step, size_t end_step, cudaStream_t stream) {
  if (first_step == 0 && batch_.draws == nullptr && operation_.record_bytes.draws > 0)
    check(read_from_host(seed_device_, seed_staged_, kSeedBytes, stream), "copying the seed");
  for (size_t i = first_step; i < end_step; ++i) {
    fail_if_due(Fault::step, cudaErrorLaunchFailure, operation_.steps[i].name);
    check(static_cast<cudaError_t>(operation_.run_step(i, device_batch_, workspace_, stream)),
          operation_.steps[i].name);
    mark(i + 2, stream);
  }
}

/// The next step reads what was uploaded.
void Passage::arrive() {
  if (operation_.op == Op::keygen && batch_.draws == nullptr) return;
  if (streams_.up != streams_.kernels)
    check(cudaStreamWaitEvent(streams_.kernels, lane_->uploaded, 0), "waiting for an event");
  if (batch_.key_index == nullptr) return;
  const Array& keys = arrays_[operation_.op == Op::encaps ? kPk : kSk];
  const Array& chosen = arrays_[kGathered];
  check(gather(chosen.device, keys.device, reinterpret_cast<const uint64_t*>(arrays_[kIndex].device),
               chosen.record_bytes, count_, streams_.kernels),
        "gathering keys");
}

void Passage::download(std::initializer_list<Name> names) {
  Copies copies;
  for (const Name name : names) {
    const Array& a = arrays_[name];
    if (a.out == nullptr || !a.needs_device()) continue;
    copies.add(a.needs_staging() ? static_cast<void*>(a.staged) : a.out, a.device, a.bytes());
  }
  check(copies.queue(streams_.down), "copying from the device");
}

void Passage::unstage() {
  for (const Array& a : arrays_) {
    if (a.out != nullptr && a.needs_staging()) std::memcpy(a.out, a.staged, a.bytes());
  }
}

void Passage::wipe_staging() {
  wipe_host(seed_staged_, kSeedBytes);
  for (const Array& a : arrays_) {
    if (a.secret) wipe_host(a.staged, a.bytes());
  }
}

void Passage::abandon() {
  (void)cudaSetDevice(device_.ordinal());
  for (const cudaStream_t stream : {streams_.up, streams_.early, streams_.kernels, streams_.down})
    (void)cudaStreamSynchronize(stream);
  (void)cudaMemsetAsync(lane_->arena.data(), 0, lane_->dirty, lane_->stream);
  (void)cudaStreamSynchronize(lane_->stream);
  lane_->dirty = 0;
  (void)cudaGetLastError();
  wipe_staging();
}

void Passage::mark(size_t event, cudaStream_t stream) {
  if (times_ != nullptr) check(cudaEventRecord(lane_->clock[event], stream), "recording an event");
}

void Passage::collect() {
  for (size_t i = 0; i < operation_.steps.size() + 2; ++i) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, lane_->clock[i], lane_->clock[i + 1]), "reading an event");
    auto& entry = times_->entries[i];
    entry.calls += 1;
    entry.items += count_;
    entry.nanoseconds += static_cast<uint64_t>(milliseconds * 1e6F);
  }
}

}  // namespace polykem::cuda
