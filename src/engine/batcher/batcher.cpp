// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/batcher.hpp"

#include <new>

#include "engine/batcher/batcher_core.hpp"

namespace polykem {

namespace {

/// Status::kOk if the request is a single operation with its inputs and without anything else.
Status validate_operation(const Request& request) {
  const BatchView& r = request.records;
  if (request.op == Op::kSign && request.sk_is_seed) return Status::kArgument;  // mu follows from the expanded key
  if (r.count != 1 || request.keyset != nullptr || r.key_index != nullptr || r.item_status != nullptr)
    return Status::kArgument;
  Request with_outputs = request;
  uint8_t somewhere = 0;
  for (const FieldInfo& f : kRecordFields) {
    if (f.out == nullptr) continue;
    if (r.*f.out != nullptr) return Status::kArgument;
    with_outputs.records.*f.out = &somewhere;
  }
  return validate(with_outputs);
}

}  // namespace

Batcher::~Batcher() {
  ProcessState* const mine = states_.find();
  if (mine != nullptr && mine->core != nullptr) mine->core->finish();
}

std::shared_ptr<BatcherCore> Batcher::core() {
  ProcessState& mine = states_.get();
  const std::lock_guard lock(mine.starting);
  if (mine.core == nullptr) mine.core = std::make_shared<BatcherCore>(engine_, config_);
  return mine.core;
}

/// A ticket with the inputs and coins of the operation; its message is hashed here.
Status Batcher::make_ticket(const Request& request, Ticket*& out) try {
  Request copied = request;
  if (request.records.message.deterministic) copied.records.coins = nullptr;  // coins of such a ticket are zero
  Ticket* const ticket = Ticket::create(copied);
  if (ticket == nullptr) return Status::kOutOfMemory;
  out = ticket;
  const bool makes_coins = copied.records.makes_coins() && !ticket->coins().empty();
  return makes_coins ? engine_.random_bytes(ticket->coins()) : Status::kOk;
} catch (const std::bad_alloc&) {
  return Status::kOutOfMemory;
}

Status Batcher::add(const Request& request, Ticket::Callback done, void* user, Ticket*& out,
                    Clock::duration longest_here) {
  Status status = validate_operation(request);
  if (status != Status::kOk) return status;
  if (engine_.cpu_backend_for(*request.scheme) == nullptr) return Status::kBackendUnavailable;
  const auto mine = core();
  const uint32_t queue = TicketQueues::index_of(*request.scheme, request.op, request.sk_is_seed);
  status = mine->admit(queue);  // first: a message is not hashed for an operation that is refused
  if (status != Status::kOk) return status;
  Ticket* ticket = nullptr;
  status = make_ticket(request, ticket);
  if (status == Status::kOk) {
    out = ticket;
    mine->add(ticket, queue, done, user, {longest_here, request.caller_waits});
    return Status::kOk;
  }
  if (ticket != nullptr) ticket->release();
  mine->withdraw(queue);
  return status;
}

void Batcher::abandon(Ticket* ticket) {
  if (!ticket->is_foreign()) {
    ticket->disarm();
    if (!ticket->finished() && ticket->node.core != nullptr) ticket->node.core->abandon(ticket);
  }
  ticket->release();
}

void Batcher::hold() {
  core()->hold();
}

void Batcher::release() {
  core()->release();
}

Clock::duration Batcher::cost(const Scheme& scheme, Op op, bool sk_is_seed) {
  return core()->cost(TicketQueues::index_of(scheme, op, sk_is_seed));
}

BatcherStats Batcher::stats(const Scheme& scheme, Op op) {
  return core()->stats(scheme, op);
}

bool Batcher::health(size_t executor, ExecutorHealth& out) {
  return core()->health(executor, out);
}

}  // namespace polykem
