// SPDX-License-Identifier: Apache-2.0
#include "broker/batcher_sink.hpp"

#include <chrono>
#include <new>
#include <utility>

namespace polykem::broker {

namespace {

/// The longest operation that the server's thread computes itself, since the other clients wait meanwhile.
constexpr auto kLongestHere = std::chrono::microseconds(50);

class PendingTicket final : public PendingItem {
 public:
  ~PendingTicket() override {
    if (ticket != nullptr) Batcher::abandon(ticket);
  }
  bool finished() const override { return ticket->finished(); }
  Status take(uint8_t* public_out, uint8_t* secret_out) override { return ticket->take(public_out, secret_out); }

  Ticket* ticket = nullptr;
};

}  // namespace

uint64_t BatcherSink::cost_ns(const Request& item) {
  const auto cost = batcher_.cost(*item.scheme, item.op, item.sk_is_seed);
  return static_cast<uint64_t>(std::chrono::nanoseconds(cost).count());
}

Status BatcherSink::add(const Request& item, Done done, void* user, std::unique_ptr<PendingItem>& out) try {
  auto pending = std::make_unique<PendingTicket>();
  const Status status = batcher_.add(item, done, user, pending->ticket, kLongestHere);
  if (status == Status::kOk) out = std::move(pending);
  return status;
} catch (const std::bad_alloc&) {
  return Status::kOutOfMemory;
}

}  // namespace polykem::broker
