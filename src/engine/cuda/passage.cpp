// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/passage.hpp"

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

}  // namespace

Passage::Passage(const DeviceOperation& operation, const ModuleBatch& batch, size_t first, size_t count)
    : operation_(operation), batch_(batch), count_(count) {
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
  size_t total = aligned(kSeedBytes) + operation_.workspace_bytes(count_);
  for (const Array& a : arrays_)
    total += a.needs_device() ? aligned(a.bytes()) : 0;
  return total;
}

void Passage::run(Device& device, Lane& lane, StepTimes* times) {
  place(lane);
  times_ = times;
  if (times != nullptr) lane.reserve_events(operation_.steps.size() + 3);
  try {
    mark(lane, 0);
    upload(lane);
    mark(lane, 1);
    device.in_turn(lane, [&] { steps(lane); });
    download(lane);
    mark(lane, operation_.steps.size() + 2);
    check(cudaEventRecord(lane.done, lane.stream), "recording an event");
    // Later work of this stream waits for the wipe, this thread does not.
    check(cudaMemsetAsync(lane.arena.data(), 0, device_bytes(), lane.stream), "wiping device memory");
    fail_if_due(Fault::synchronize, cudaErrorLaunchFailure, operation_.scheme);
    check(cudaEventSynchronize(lane.done), operation_.scheme);
  } catch (...) {
    abandon(lane);
    throw;
  }
  unstage();
  wipe_staging();
  if (times != nullptr) collect(lane);
}

void Passage::place(Lane& lane) {
  size_t staging = aligned(kSeedBytes);
  for (const Array& a : arrays_)
    staging += a.needs_staging() ? aligned(a.bytes()) : 0;
  lane.arena.reserve(device_bytes());
  lane.staging.reserve(staging);
  std::byte* device = lane.arena.data();
  std::byte* host = lane.staging.data();
  const auto take = [](std::byte*& from, size_t bytes) {
    std::byte* taken = from;
    from += aligned(bytes);
    return taken;
  };
  seed_device_ = take(device, kSeedBytes);
  seed_staged_ = take(host, kSeedBytes);
  for (Array& a : arrays_) {
    if (a.kind == Place::Kind::device) a.device = a.in != nullptr ? const_cast<uint8_t*>(a.in) : a.out;
    if (a.needs_device()) a.device = reinterpret_cast<uint8_t*>(take(device, a.bytes()));
    if (a.needs_staging()) a.staged = take(host, a.bytes());
  }
  workspace_ = device;
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

void Passage::upload(Lane& lane) {
  std::memcpy(seed_staged_, batch_.seed, kSeedBytes);
  check(cudaMemcpyAsync(seed_device_, seed_staged_, kSeedBytes, cudaMemcpyHostToDevice, lane.stream),
        "copying the seed");
  for (const Array& a : arrays_) {
    if (a.in == nullptr || !a.needs_device()) continue;
    const void* from = a.in;
    if (a.needs_staging()) from = std::memcpy(a.staged, a.in, a.bytes());
    check(cudaMemcpyAsync(a.device, from, a.bytes(), cudaMemcpyHostToDevice, lane.stream), "copying to the device");
  }
  if (batch_.key_index == nullptr) return;
  const Array& keys = arrays_[operation_.op == Op::encaps ? kPk : kSk];
  const Array& chosen = arrays_[kGathered];
  check(gather(chosen.device, keys.device, reinterpret_cast<const uint64_t*>(arrays_[kIndex].device),
               chosen.record_bytes, count_, lane.stream),
        "gathering keys");
}

void Passage::steps(Lane& lane) {
  for (size_t i = 0; i < operation_.steps.size(); ++i) {
    fail_if_due(Fault::step, cudaErrorLaunchFailure, operation_.steps[i].name);
    check(static_cast<cudaError_t>(operation_.run_step(i, device_batch_, workspace_, lane.stream)),
          operation_.steps[i].name);
    mark(lane, i + 2);
  }
}

void Passage::download(Lane& lane) {
  for (const Array& a : arrays_) {
    if (a.out == nullptr || !a.needs_device()) continue;
    void* to = a.needs_staging() ? static_cast<void*>(a.staged) : a.out;
    check(cudaMemcpyAsync(to, a.device, a.bytes(), cudaMemcpyDeviceToHost, lane.stream), "copying from the device");
  }
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

void Passage::abandon(Lane& lane) {
  (void)cudaMemsetAsync(lane.arena.data(), 0, device_bytes(), lane.stream);
  (void)cudaStreamSynchronize(lane.stream);
  (void)cudaGetLastError();
  wipe_staging();
}

void Passage::mark(Lane& lane, size_t event) {
  if (times_ != nullptr) check(cudaEventRecord(lane.events[event], lane.stream), "recording an event");
}

void Passage::collect(Lane& lane) {
  for (size_t i = 0; i < operation_.steps.size() + 2; ++i) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, lane.events[i], lane.events[i + 1]), "reading an event");
    auto& entry = times_->entries[i];
    entry.calls += 1;
    entry.items += count_;
    entry.nanoseconds += static_cast<uint64_t>(milliseconds * 1e6F);
  }
}

}  // namespace polykem::cuda
