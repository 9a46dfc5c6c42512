// SPDX-License-Identifier: Apache-2.0
// The C API over the batcher and the broker.
#include <atomic>
#include <cerrno>
#include <utility>

#include "broker/batcher_sink.hpp"
#include "broker/executor.hpp"
#include "broker/server.hpp"
#include "capi/handles.hpp"
#include "engine/batcher/batcher.hpp"

using namespace polykem::capi;
using polykem::Batcher;
using polykem::BatcherConfig;
using polykem::BatcherStats;
using polykem::ExecutorHealth;
using polykem::Op;
using polykem::Request;
using polykem::Status;
using polykem::Ticket;
using polykem::broker::ServerConfig;

static_assert(static_cast<int>(ExecutorHealth::State::kUnused) == POLYKEM_EXECUTOR_UNUSED);
static_assert(static_cast<int>(ExecutorHealth::State::kClosed) == POLYKEM_EXECUTOR_CLOSED);
static_assert(static_cast<int>(ExecutorHealth::State::kOpen) == POLYKEM_EXECUTOR_OPEN);
static_assert(static_cast<int>(ExecutorHealth::State::kHalfOpen) == POLYKEM_EXECUTOR_HALF_OPEN);

struct polykem_batcher {
  Batcher batcher;
};
struct polykem_broker {
  explicit polykem_broker(Batcher& batcher) : sink(batcher) {}

  polykem::broker::BatcherSink sink;
  std::unique_ptr<polykem::broker::Server> server;
  std::atomic<uint32_t> slots{0};
};

namespace {

const Ticket* from_c(const polykem_ticket* ticket) {
  return reinterpret_cast<const Ticket*>(ticket);
}
Ticket* from_c(polykem_ticket* ticket) {
  return reinterpret_cast<Ticket*>(ticket);
}

template <class T>
T value_or(T value, T otherwise) {
  return value != 0 ? value : otherwise;
}

Status translate(const polykem_batcher_config* given, BatcherConfig& out) {
  polykem_batcher_config in{};
  if (given != nullptr && !read_struct<sizeof(polykem_batcher_config)>(given, in)) return Status::kArgument;
  if (in.batch_items > Batcher::kMaxBatchItems) return Status::kArgument;
  out.batch_items = value_or(in.batch_items, out.batch_items);
  out.linger = std::chrono::microseconds(in.linger_us);
  if (in.deadline_us != 0) out.deadline = std::chrono::microseconds(in.deadline_us);
  out.high_water = value_or(in.high_water, out.high_water);
  out.hard_limit = value_or(in.hard_limit, out.hard_limit);
  if (in.broker == nullptr) return Status::kOk;
  out.make_executor = [path = std::string(in.broker), deadline = out.deadline] {
    return std::make_unique<polykem::broker::BrokerExecutor>(path, deadline);
  };
  return Status::kOk;
}

bool translate(const polykem_broker_config* given, ServerConfig& out) {
  polykem_broker_config in{};
  if (!read_struct<sizeof(polykem_broker_config)>(given, in)) return false;
  if ((in.uid_count != 0 && in.uids == nullptr) || (in.gid_count != 0 && in.gids == nullptr)) return false;
  out.path = in.path;
  out.listening = in.path == nullptr ? in.listen_fd : -1;
  out.mode = value_or(in.mode, static_cast<uint32_t>(out.mode));
  out.uids.assign(in.uids, in.uids + in.uid_count);
  out.gids.assign(in.gids, in.gids + in.gid_count);
  out.max_clients = value_or(in.clients, out.max_clients);
  out.max_clients_of_user = value_or(in.clients_of_user, out.max_clients_of_user);
  out.max_slots = value_or(in.slots, out.max_slots);
  if (in.memory_mib != 0) out.max_bytes = size_t{in.memory_mib} << 20;
  return true;
}

}  // namespace

polykem_status polykem_batcher_new(polykem_context* context, const polykem_batcher_config* config,
                                   polykem_batcher** out) {
  if (context == nullptr || out == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    BatcherConfig translated;
    const Status status = translate(config, translated);
    if (status == Status::kOk) *out = new polykem_batcher{Batcher(*context->engine, translated)};
    return to_c(status);
  });
}

void polykem_batcher_free(polykem_batcher* batcher) {
  if (!Batcher::in_callback()) delete batcher;
}

polykem_status polykem_batcher_add(polykem_batcher* batcher, const polykem_request* request,
                                   polykem_ticket_callback done, void* user, polykem_ticket** out) {
  if (batcher == nullptr || out == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    Request translated;
    const Status status = translate(request, translated);
    if (status != Status::kOk) return to_c(status);
    return to_c(batcher->batcher.add(translated, done, user, reinterpret_cast<Ticket*&>(*out)));
  });
}

polykem_status polykem_batcher_hold(polykem_batcher* batcher) {
  if (batcher == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    batcher->batcher.hold();
    return POLYKEM_OK;
  });
}

polykem_status polykem_batcher_release(polykem_batcher* batcher) {
  if (batcher == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    batcher->batcher.release();
    return POLYKEM_OK;
  });
}

polykem_status polykem_ticket_poll(const polykem_ticket* ticket) {
  return ticket == nullptr ? POLYKEM_ERR_ARGUMENT : to_c(from_c(ticket)->poll());
}

polykem_status polykem_ticket_wait(polykem_ticket* ticket) {
  return ticket == nullptr ? POLYKEM_ERR_ARGUMENT : to_c(from_c(ticket)->wait());
}

polykem_status polykem_ticket_take(polykem_ticket* ticket, uint8_t* public_out, uint8_t* secret_out) {
  return ticket == nullptr ? POLYKEM_ERR_ARGUMENT : to_c(from_c(ticket)->take(public_out, secret_out));
}

size_t polykem_ticket_batch_items(const polykem_ticket* ticket) {
  return ticket == nullptr ? 0 : from_c(ticket)->batch_items();
}

void polykem_ticket_free(polykem_ticket* ticket) {
  if (ticket != nullptr) Batcher::abandon(from_c(ticket));
}

polykem_status polykem_batcher_stats(polykem_batcher* batcher, const polykem_scheme* scheme, polykem_op op,
                                     polykem_batcher_stats_t* out) {
  if (batcher == nullptr || !is_op_of(scheme, op) || !has_known_size<sizeof *out>(out)) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    const BatcherStats s = batcher->batcher.stats(*from_c(scheme), static_cast<Op>(op));
    polykem_batcher_stats_t stats{.struct_size = 0,
                                  .operations = s.operations,
                                  .on_caller = s.on_caller,
                                  .on_cpu = s.on_cpu,
                                  .on_accelerator = s.on_accelerator,
                                  .on_broker = s.on_broker,
                                  .spilled = s.spilled,
                                  .rescued = s.rescued,
                                  .refused = s.refused,
                                  .abandoned = s.abandoned,
                                  .failed = s.failed,
                                  .batches = s.batches,
                                  .batch_items = {},
                                  .wait_us = {},
                                  .service_us = {},
                                  .batch_items_sum = s.batch_items_sum,
                                  .wait_us_sum = s.wait_us_sum,
                                  .service_us_sum = s.service_us_sum,
                                  .waiting = s.waiting,
                                  .in_flight = s.in_flight};
    std::copy(s.batch_items.begin(), s.batch_items.end(), stats.batch_items);
    std::copy(s.wait_us.begin(), s.wait_us.end(), stats.wait_us);
    std::copy(s.service_us.begin(), s.service_us.end(), stats.service_us);
    write_struct(out, out->struct_size, stats);
    return POLYKEM_OK;
  });
}

polykem_status polykem_batcher_health(polykem_batcher* batcher, size_t executor, polykem_executor_health_t* out) {
  if (batcher == nullptr || !has_known_size<sizeof *out>(out)) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    ExecutorHealth h;
    if (!batcher->batcher.health(executor, h)) return POLYKEM_ERR_RANGE;
    const auto state = static_cast<polykem_executor_state>(h.state);
    write_struct(out, out->struct_size, polykem_executor_health_t{0, h.name, state, h.batches, h.reason, h.opened});
    return POLYKEM_OK;
  });
}

// ---- a broker

polykem_status polykem_broker_new(polykem_batcher* batcher, const polykem_broker_config* config, polykem_broker** out) {
  if (batcher == nullptr || out == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    ServerConfig translated;
    errno = EINVAL;
    if (!translate(config, translated)) return POLYKEM_ERR_ARGUMENT;
    auto broker = std::make_unique<polykem_broker>(batcher->batcher);
    broker->slots = translated.max_slots;
    const Status status = polykem::broker::Server::create(translated, broker->sink, broker->server);
    if (status == Status::kOk) *out = broker.release();
    return to_c(status);
  });
}

void polykem_broker_free(polykem_broker* broker) {
  delete broker;
}

polykem_status polykem_broker_admit(polykem_broker* broker, const polykem_broker_config* config) {
  if (broker == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    ServerConfig translated;
    if (!translate(config, translated)) return POLYKEM_ERR_ARGUMENT;
    const uint32_t slots = translated.max_slots;
    const Status status = broker->server->admit_as(std::move(translated));
    if (status == Status::kOk) broker->slots = slots;
    return to_c(status);
  });
}

polykem_status polykem_broker_stats(const polykem_broker* broker, polykem_broker_stats_t* out) {
  constexpr size_t kMin = offsetof(polykem_broker_stats_t, short_of_memory);
  if (broker == nullptr || !has_known_size<kMin>(out)) return POLYKEM_ERR_ARGUMENT;
  const polykem::broker::ServerCounts& c = broker->server->counts();
  const polykem_broker_stats_t stats{.struct_size = 0,
                                     .clients = c.clients,
                                     .in_flight = c.in_flight,
                                     .accepted = c.accepted,
                                     .refused = c.refused,
                                     .violations = c.violations,
                                     .operations = c.operations,
                                     .failed = c.failed,
                                     .late = c.late,
                                     .dropped = c.dropped,
                                     .bytes_of_client = polykem::broker::map_bytes(broker->slots),
                                     .short_of_memory = c.short_of_memory,
                                     .silent_ms = broker->server->silent_ms()};
  write_struct(out, out->struct_size, stats);
  return POLYKEM_OK;
}
