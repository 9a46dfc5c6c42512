// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/probe.hpp"

#include <array>
#include <new>

namespace polykem {

namespace {

constexpr size_t kProbeItems = 2;

/// Encapsulates to the key pair, or signs with it. Returns the finished ticket; nullptr if there is no memory.
Ticket* use(Engine& engine, const Scheme& scheme, Ticket& pair) {
  constexpr std::array<uint8_t, kMuBytes> kMu{1, 2, 3};
  Request request{.op = scheme.is_signature() ? Op::kSign : Op::kEncaps, .scheme = &scheme};
  request.records.message = Messages::of_mu(kMu.data());
  const BatchView keys = pair.request().records;
  (request.op == Op::kSign ? request.records.sk : request.records.pk) =
      request.op == Op::kSign ? keys.sk_out : keys.pk_out;
  return computed(engine, request);
}

/// Decapsulates or verifies what use() made. Returns the finished ticket; nullptr if there is no memory.
Ticket* use_again(Engine& engine, const TicketQueue& queue, Ticket& pair, Ticket& used) {
  Request request{.op = queue.op, .sk_is_seed = queue.sk_is_seed, .scheme = queue.scheme};
  const BatchView keys = pair.request().records;
  request.records.pk = keys.pk_out;
  request.records.sk = queue.sk_is_seed ? pair.coins().data() : keys.sk_out;
  request.records.ct = used.request().records.ct_out;
  request.records.sig = used.request().records.sig_out;
  request.records.message = used.inputs().records.message;
  return computed(engine, request);
}

/// A finished operation of the queue's kind; nullptr if there is no memory.
Ticket* make_item(Engine& engine, const TicketQueue& queue) {
  Ticket* const pair = computed(engine, {.op = Op::kKeygen, .scheme = queue.scheme});
  if (queue.op == Op::kKeygen || pair == nullptr) return pair;
  Ticket* const used = use(engine, *queue.scheme, *pair);
  Ticket* result = used;
  if (used != nullptr && queue.op != used->op()) {
    result = use_again(engine, queue, *pair, *used);
    used->release();
  }
  pair->release();
  return result;
}

}  // namespace

Status compute_now(Engine& engine, Ticket& ticket) {
  Status item = Status::kOutOfMemory;
  if (ticket.reserve_outputs()) {
    Request request = ticket.request();
    request.run_on = RunOn::kCaller;
    request.records.item_status = &item;
    const Status status = engine.run_here(request);
    if (status != Status::kItems) item = status;
  }
  ticket.finish(item, 1);
  return item;
}

Ticket* computed(Engine& engine, const Request& inputs) {
  Ticket* const ticket = Ticket::create(inputs);
  if (ticket == nullptr) return nullptr;
  Status status = Status::kOk;
  if (inputs.records.coins == nullptr && !ticket->coins().empty()) status = engine.random_bytes(ticket->coins());
  ticket->claim();
  if (status == Status::kOk) status = compute_now(engine, *ticket);
  if (status != Status::kOutOfMemory && status != Status::kRandom) return ticket;
  ticket->release();
  return nullptr;
}

std::vector<Ticket*> make_probe(Engine& engine, const TicketQueue& queue) try {
  std::vector<Ticket*> tickets;
  tickets.reserve(kProbeItems);
  for (size_t i = 0; i < kProbeItems; ++i) {
    if (Ticket* const result = make_item(engine, queue); result != nullptr) tickets.push_back(result);
  }
  return tickets;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace polykem
