// SPDX-License-Identifier: Apache-2.0
#include "engine/worker.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace polykem {

std::unique_ptr<Worker> WorkerPool::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::unique_ptr<Worker>(new (std::nothrow) Worker);
  auto worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

void WorkerPool::give_back(std::unique_ptr<Worker> worker) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

void Worker::wipe() {
  secure_zero(workspace.data(), used_bytes);
  secure_zero(keys.data(), keys.size());
  wipe_stack();
  used_bytes = 0;
}

namespace {

const uint8_t* offset(const uint8_t* base, size_t bytes) {
  return base == nullptr ? nullptr : base + bytes;
}
uint8_t* offset(uint8_t* base, size_t bytes) {
  return base == nullptr ? nullptr : base + bytes;
}

/// Where the keys of items [first, first + count) lie, or nullptr without memory. Chosen keys are copied side by side.
const uint8_t* keys_from_set(const Request& r, size_t first, size_t count, Worker& worker) {
  const KeySet& set = *r.keyset;
  if (r.shared_key) return set.record(r.key_index == nullptr ? 0 : r.key_index[0]);
  if (r.key_index == nullptr) return set.record(first);
  if (set.on_device()) return set.record(0);  // the backend chooses by index
  const size_t bytes = set.record_bytes();
  if (!worker.keys.reserve(count * bytes)) return nullptr;
  auto* gathered = reinterpret_cast<uint8_t*>(worker.keys.data());
  for (size_t i = 0; i < count; ++i)
    std::memcpy(gathered + i * bytes, set.record(r.key_index[first + i]), bytes);
  return gathered;
}

/// The same keys in the backend's own form, if the set has it.
ExpandedKeys expanded_keys(const Request& r, const SchemeBackend& backend, size_t first) {
  const KeySet& set = *r.keyset;
  if (set.expanded.size() == 0 || set.expanded_for != backend.backend) return {};
  const size_t bytes = set.form(backend).bytes;
  if (r.shared_key) {
    const size_t key = r.key_index == nullptr ? 0 : r.key_index[0];
    return {.data = set.expanded.data() + key * bytes, .bytes = bytes, .shared = true, .index = nullptr};
  }
  if (r.key_index == nullptr)
    return {.data = set.expanded.data() + first * bytes, .bytes = bytes, .shared = false, .index = nullptr};
  return {.data = set.expanded.data(), .bytes = bytes, .shared = false, .index = r.key_index + first};
}

bool reserve_workspace(Worker& worker, const Operation& operation, size_t count) {
  const size_t bytes = operation.workspace_bytes(count);
  worker.used_bytes = std::max(worker.used_bytes, bytes);
  return worker.workspace.reserve(bytes);
}

}  // namespace

Status expand_seeds(const Request& r, const Operation& keygen, size_t first, size_t count, Worker& worker,
                    StepTimes* times) {
  const Scheme& s = *r.scheme;
  const size_t keys = r.shared_key ? 1 : count;
  if (!reserve_workspace(worker, keygen, keys)) return Status::out_of_memory;
  if (!worker.keys.reserve(keys * (s.secret_key_bytes + s.public_key_bytes))) return Status::out_of_memory;
  worker.item_status.assign(std::max(keys, worker.item_status.size()), Status::ok);
  auto* sk = reinterpret_cast<uint8_t*>(worker.keys.data());
  const Batch batch{.count = keys,
                    .draws = r.sk + (r.shared_key ? 0 : first * s.secret_seed_bytes()),
                    .drbg = &worker.drbg,
                    .pk_out = sk + keys * s.secret_key_bytes,
                    .sk_out = sk,
                    .item_status = worker.item_status.data()};
  return keygen.run(batch, worker.workspace.data(), times);
}

Status run_chunk(const Request& r, const SchemeBackend& backend, size_t first, size_t count, Status* item_status,
                 Worker& worker, StepTimes* times) {
  const Scheme& s = *r.scheme;
  const Operation& operation = backend.op(r.op);
  if (!reserve_workspace(worker, operation, count)) return Status::out_of_memory;
  if (r.draws == nullptr) {
    const Status status = worker.drbg.prepare();
    if (status != Status::ok) return status;
  }
  const size_t key_first = r.shared_key ? 0 : first;
  Batch batch{.count = count,
              .shared_key = r.shared_key,
              .draws = offset(r.draws, first * s.draw_bytes(r.op)),
              .drbg = &worker.drbg,
              .pk = offset(r.pk, key_first * s.public_key_bytes),
              .sk = offset(r.sk, key_first * s.secret_key_bytes),
              .ct = offset(r.ct, first * s.ciphertext_bytes),
              .pk_out = offset(r.pk_out, first * s.public_key_bytes),
              .sk_out = offset(r.sk_out, first * s.secret_key_bytes),
              .ct_out = offset(r.ct_out, first * s.ciphertext_bytes),
              .ss_out = offset(r.ss_out, first * s.shared_secret_bytes),
              .item_status = item_status};
  if (r.keyset != nullptr) {
    const uint8_t* keys = keys_from_set(r, first, count, worker);
    if (keys == nullptr) return Status::out_of_memory;
    (r.op == Op::encaps ? batch.pk : batch.sk) = keys;
    if (r.keyset->on_device() && !r.shared_key)
      batch.key_index = r.key_index == nullptr ? nullptr : r.key_index + first;
    batch.expanded = expanded_keys(r, backend, first);
  }
  if (r.sk_is_seed) batch.sk = reinterpret_cast<const uint8_t*>(worker.keys.data());
  return operation.run(batch, worker.workspace.data(), times);
}

}  // namespace polykem
