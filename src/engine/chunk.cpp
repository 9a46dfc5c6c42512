// SPDX-License-Identifier: Apache-2.0
#include "engine/chunk.hpp"

#include <algorithm>

namespace polykem {

namespace {

/// Runs a plan; batch.item_status is preset.
Status run_plan_on(const Scheme& scheme, Op op, const Operation& operation, const Batch& batch, Worker& worker,
                   Profile* profile) {
  if (batch.count == 0) return Status::kOk;
  if (!worker.reserve_workspace(operation, batch.count)) return Status::kOutOfMemory;
  StepTimes times;
  const Status status =
      operation.run(operation.context, batch, worker.workspace.data(), profile != nullptr ? &times : nullptr);
  if (profile != nullptr && status == Status::kOk) profile->add(scheme, op, operation.steps, times);
  return status;
}

/// Runs the plan of most items, then that of a small part at the end.
Status run(const Scheme& scheme, Op op, const Operation& operation, const Batch& batch, Worker& worker,
           Profile* profile) {
  if (batch.makes_coins() && scheme.coin_bytes(op) > 0) {
    const Status status = worker.drbg.prepare();
    if (status != Status::kOk) return status;
  }
  std::fill_n(batch.item_status, batch.count, Status::kOk);
  const Tail small = operation.tail(batch);
  if (small.count == 0) return run_plan_on(scheme, op, operation, batch, worker, profile);
  const size_t count_of_many = batch.count - small.count;
  const auto items = [&](size_t first, size_t count) {
    return Batch{batch.slice(scheme.record_bytes(op), first, count), batch.drbg};
  };
  const Status status = run_plan_on(scheme, op, operation, items(0, count_of_many), worker, profile);
  if (status != Status::kOk) return status;
  return run_plan_on(scheme, op, *small.operation, items(count_of_many, small.count), worker, profile);
}

/// Makes the secret keys of the items from their seeds, in the worker's memory.
Status expand_seeds(const Scheme& scheme, const Operation& keygen, BatchView& items, Worker& worker, Profile* profile) {
  const size_t count = items.shared_key ? 1 : items.count;
  if (!worker.reserve_keys(count * (scheme.secret_key_bytes + scheme.public_key_bytes))) return Status::kOutOfMemory;
  auto* sk = reinterpret_cast<uint8_t*>(worker.keys.data());
  Batch batch;
  batch.count = count;
  batch.coins = items.sk;
  batch.drbg = &worker.drbg;
  batch.sk_out = sk;
  batch.pk_out = sk + count * scheme.secret_key_bytes;
  batch.item_status = items.item_status;
  items.sk = sk;
  return run(scheme, Op::kKeygen, keygen, batch, worker, profile);
}

/// Copies the chosen records side by side into the worker's memory.
Status gather_keys(const Scheme& scheme, Op op, BatchView& items, Worker& worker) {
  const size_t bytes = scheme.record_bytes(op).*key_field(op).bytes;
  const uint8_t*& keys = items.*key_field(op).in;
  if (!worker.reserve_keys(items.count * bytes)) return Status::kOutOfMemory;
  auto* gathered = reinterpret_cast<uint8_t*>(worker.keys.data());
  for (size_t i = 0; i < items.count; ++i)
    copy_secret(gathered + i * bytes, keys + items.key_index[i] * bytes, bytes);
  keys = gathered;
  items.key_index = nullptr;
  return Status::kOk;
}

bool any_failed(const BatchView& items) {
  static_assert(static_cast<int>(Status::kOk) == 0);
  int any = 0;  // no early exit, so that the compiler vectorises the loop
  for (size_t i = 0; i < items.count; ++i)
    any |= static_cast<int>(items.item_status[i]);
  return any != 0;
}

}  // namespace

Status compute_chunk(const ChunkShape& shape, const SchemeBackend& backend, BatchView items, Worker& worker,
                     Profile* profile) {
  Status status = Status::kOk;
  if (shape.sk_is_seed) status = expand_seeds(shape.scheme, backend.op(Op::kKeygen), items, worker, profile);
  if (items.key_index != nullptr && shape.keys_on_host) status = gather_keys(shape.scheme, shape.op, items, worker);
  if (status != Status::kOk) return status;
  status = run(shape.scheme, shape.op, backend.op(shape.op), Batch{items, &worker.drbg}, worker, profile);
  return status == Status::kOk && any_failed(items) ? Status::kItems : status;
}

}  // namespace polykem
