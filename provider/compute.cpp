// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

#include <utility>

namespace polykem::provider {

polykem_status Pending::finish(std::uint8_t* public_out, std::uint8_t* secret_out) {
  pause();
  return polykem_ticket_take(operation_->ticket, public_out, secret_out);
}

Compute::Handles::~Handles() {
  polykem_batcher_free(batcher);
  polykem_context_free(context);
}

Compute::Compute(Config config)
    : config_(std::move(config)),
      pauses_(std::make_shared<Pauses>(config_.abandoned_limit)),
      statistics_(config_.statistics, pauses_) {}

Compute::~Compute() {
  end();
  delete handles_.load();
}

void Compute::end() const {
  if (const Handles* handles = handles_.load(); handles != nullptr) statistics_.write_at_end(handles->batcher);
}

polykem_status Compute::make(Handles& out) const {
  const polykem_config config{sizeof(polykem_config), config_.threads,
                              config_.backend.empty() ? nullptr : config_.backend.c_str()};
  const polykem_status status = polykem_context_new_open_later(&config, &out.context);
  if (status != POLYKEM_OK) return status;
  polykem_batcher_config batcher{};
  batcher.struct_size = sizeof batcher;
  batcher.batch_items = config_.batch_items;
  batcher.linger_us = config_.linger_us;
  batcher.deadline_us = config_.deadline_us;
  batcher.high_water = config_.high_water;
  batcher.hard_limit = config_.hard_limit;
  batcher.broker = config_.broker.empty() ? nullptr : config_.broker.c_str();
  return polykem_batcher_new(out.context, &batcher, &out.batcher);
}

/// Lock-free, because another thread might hold a lock while the process forks.
polykem_status Compute::get_or_make(Handles*& out) {
  out = handles_.load(std::memory_order_acquire);
  if (out != nullptr) return POLYKEM_OK;
  auto fresh = std::make_unique<Handles>();
  const polykem_status status = make(*fresh);
  if (status == POLYKEM_OK && handles_.compare_exchange_strong(out, fresh.get())) out = fresh.release();
  return status;
}

polykem_status Compute::start(polykem_request& request, SecretBytes coins, Pending& out) {
  Handles* handles = nullptr;
  const polykem_status status = get_or_make(handles);
  if (status != POLYKEM_OK) return status;
  statistics_.write_when_due(handles->batcher);
  out.operation_ = std::make_unique<Operation>();
  Operation& operation = *out.operation_;
  operation.secrets = std::move(coins);
  if (config_.async && pauses_->allowed() && in_job()) operation.pauses = pauses_;
  const bool pauses = operation.pauses != nullptr;
  request.flags = pauses ? 0 : POLYKEM_CALLER_WAITS;
  request.coins = operation.secrets.empty() ? nullptr : operation.secrets.data();
  return polykem_batcher_add(handles->batcher, &request, pauses ? wake : nullptr, &operation, &operation.ticket);
}

}  // namespace polykem::provider
