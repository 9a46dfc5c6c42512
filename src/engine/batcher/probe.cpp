// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/probe.hpp"

#include <new>

namespace polykem {

namespace {

constexpr size_t kProbeItems = 2;

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
    Ticket *pair = computed(engine, {.op = Op::kKeygen, .scheme = queue.scheme}), *encapsulated = nullptr,
           *result = pair;
    if (queue.op != Op::kKeygen && pair != nullptr) {
      Request encaps{.op = Op::kEncaps, .scheme = queue.scheme};
      encaps.records.pk = pair->request().records.pk_out;
      result = encapsulated = computed(engine, encaps);
    }
    if (queue.op == Op::kDecaps && encapsulated != nullptr) {
      Request decaps{.op = Op::kDecaps, .sk_is_seed = queue.sk_is_seed, .scheme = queue.scheme};
      decaps.records.sk = queue.sk_is_seed ? pair->coins().data() : pair->request().records.sk_out;
      decaps.records.ct = encapsulated->request().records.ct_out;
      result = computed(engine, decaps);
    }
    for (Ticket* used : {pair, encapsulated})
      if (used != nullptr && used != result) used->release();
    if (result != nullptr) tickets.push_back(result);
  }
  return tickets;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace polykem
