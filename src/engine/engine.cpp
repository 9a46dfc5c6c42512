// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/backend.hpp"
#include "core/environment.hpp"
#include "core/round.hpp"
#include "core/usable_cpus.hpp"
#include "prim/drbg/fork_generation.hpp"
#include "schemes/registry.hpp"

namespace polykem {

namespace {

bool same(const char* a, const char* b) {
  return std::strcmp(a, b) == 0;
}

/// Sets `out` to the static name of the backend to force; nullptr if none is forced.
Status find_forced(const EngineConfig& config, const char*& out) {
  const char* name = config.backend != nullptr ? config.backend : secure_getenv(environment::kBackend);
  out = nullptr;
  if (name == nullptr || *name == '\0') return Status::kOk;
  for (Accelerator* accelerator : config.accelerators) {
    if (!same(accelerator->name(), name)) continue;
    out = accelerator->name();
    const bool usable = config.open_later ? accelerator->may_be_available() : accelerator->available();
    return usable ? Status::kOk : Status::kBackendUnavailable;
  }
  const CpuBackend* const backend = find_cpu_backend(name);
  if (backend == nullptr) return Status::kUnknownBackend;
  out = backend->name;
  return backend->available() ? Status::kOk : Status::kBackendUnavailable;
}

/// Returns the CPU backend, or the one that it inherits if it needs a large stack.
const SchemeBackend* for_small_stack(const Scheme& scheme, const SchemeBackend& backend) {
  const CpuBackend* const cpu = find_cpu_backend(backend.name);
  return cpu != nullptr && cpu->needs_large_stack ? cpu_backend(scheme, cpu->inherits) : &backend;
}

/// Items per chunk: as many as fit the cache, adjusted so that all threads get the same number of chunks and chunks
/// fill the lanes.
size_t chunk_items(const Operation& operation, size_t count, unsigned threads) {
  const size_t share = divided_up(count, threads);
  const size_t chunks_of_share = divided_up(share, operation.chunk);
  return std::min(operation.chunk, rounded_up(divided_up(share, chunks_of_share), operation.items_per_vector));
}

/// Sets `found` to the arrays in the accelerator's memory. Arrays that the host reads itself must not be there.
Status find_arrays(Accelerator& accelerator, const BatchView& records, Fields& found) {
  for (const FieldInfo& f : kRecordFields) {
    if (f.data(records) == nullptr) continue;
    const Owner owner = accelerator.owner_of(f.data(records));
    if (owner == Owner::kUnknown) return Status::kBackendUnavailable;
    if (owner == Owner::kSelf) found |= f.field;
  }
  for (const void* array : {static_cast<const void*>(records.key_index), static_cast<const void*>(records.item_status),
                            static_cast<const void*>(records.message.strings.data),
                            static_cast<const void*>(records.message.contexts.data)}) {
    if (array != nullptr && accelerator.owner_of(array) != Owner::kOther) return Status::kArgument;
  }
  return Status::kOk;
}

}  // namespace

Status Engine::create(const EngineConfig& config, std::unique_ptr<Engine>& out) {
  if (config.threads > kMaxThreads) return Status::kArgument;
  const char* forced = nullptr;
  const Status status = find_forced(config, forced);
  if (status != Status::kOk) return status;
  const unsigned threads = config.threads == 0 ? std::min(usable_cpus().count, kMaxThreads) : config.threads;
  out.reset(new Engine(threads, forced, config.accelerators));
  return Status::kOk;
}

Engine::Engine(unsigned threads, const char* forced, std::span<Accelerator* const> accelerators)
    : threads_(threads), forced_(forced), accelerators_(accelerators) {
  states_.get();
}

bool Engine::is_own_thread() {
  ProcessState* const mine = states_.find();
  if (mine == nullptr) return false;
  const std::lock_guard lock(mine->pool_starting);
  return mine->pool != nullptr && mine->pool->is_own_thread();
}

/// The threads; nullptr if the batch must be computed on the caller's thread.
ThreadPool* Engine::pool() {
  ProcessState& mine = states_.get();
  {
    const std::lock_guard lock(mine.pool_starting);
    if (mine.pool == nullptr) mine.pool = std::make_unique<ThreadPool>(threads_, mine.workers, mine.profile);
  }
  return mine.pool->size() > 0 && !mine.pool->is_own_thread() ? mine.pool.get() : nullptr;
}

Route Engine::route_for(const Scheme& scheme, Op op, size_t count) const {
  for (Accelerator* a : accelerators_) {
    const bool forced = forced_ != nullptr && same(forced_, a->name());
    if (!forced && (forced_ != nullptr || !a->crossovers().pays(scheme, op, count))) continue;
    const SchemeBackend* backend = a->backend_for(scheme);
    if (backend != nullptr) return {backend, a, 0, best_cpu_backend(scheme)};
    if (forced) return {};
  }
  return {.backend = forced_ != nullptr ? cpu_backend(scheme, forced_) : best_cpu_backend(scheme)};
}

const SchemeBackend* Engine::cpu_backend_for(const Scheme& scheme) const {
  return forced_ != nullptr && usable_accelerators().empty() ? cpu_backend(scheme, forced_) : best_cpu_backend(scheme);
}

std::span<Accelerator* const> Engine::usable_accelerators() const {
  if (forced_ == nullptr) return accelerators_;
  for (size_t i = 0; i < accelerators_.size(); ++i) {
    if (same(accelerators_[i]->name(), forced_)) return accelerators_.subspan(i, 1);
  }
  return {};
}

Status Engine::random_bytes(std::span<uint8_t> out) {
  WorkerPool& workers = states_.get().workers;
  auto worker = workers.take();
  if (worker == nullptr) return Status::kOutOfMemory;
  const Status status = worker->drbg.prepare();
  if (status == Status::kOk) worker->drbg.fill(out);
  workers.give_back(std::move(worker));
  zeroize_stack_of_single_item();
  return status;
}

Status Engine::find_route(const Request& request, Route& out) const {
  if (request.run_on == RunOn::kCpu || request.run_on == RunOn::kCaller) {
    out = {.backend = cpu_backend_for(*request.scheme)};
    if (out.backend != nullptr && request.run_on == RunOn::kCaller)
      out.backend = for_small_stack(*request.scheme, *out.backend);
    return out.backend == nullptr ? Status::kBackendUnavailable : Status::kOk;
  }
  if (request.run_on == RunOn::kAccelerator) {
    out = {.backend = request.accelerator->backend_for(*request.scheme), .accelerator = request.accelerator};
    return out.backend == nullptr ? Status::kBackendUnavailable : Status::kOk;
  }
  Accelerator* owner = request.keyset == nullptr ? nullptr : request.keyset->accelerator;
  Fields on_accelerator = 0;
  for (Accelerator* accelerator : accelerators_) {
    Fields found = 0;
    const Status status = find_arrays(*accelerator, request.records, found);
    if (status != Status::kOk) return status;
    if (found == 0) continue;
    if (owner != nullptr && owner != accelerator) return Status::kArgument;
    owner = accelerator;
    on_accelerator = found;
  }
  out = {.backend = nullptr, .accelerator = owner, .on_accelerator = on_accelerator};
  if (owner == nullptr) {
    out = route_for(*request.scheme, request.op, request.records.count);
  } else {
    out.backend = owner->backend_for(*request.scheme);
  }
  return out.backend == nullptr ? Status::kBackendUnavailable : Status::kOk;
}

/// Checks the request, chooses a route, makes the job and returns start_job(job).
template <class Start>
Status Engine::start(const Request& request, Job::Done done, Start&& start_job) {
  Status status = validate(request);
  if (status != Status::kOk) return status;
  const BatchView& records = request.records;
  Route route;
  try {
    status = find_route(request, route);
    if (status != Status::kOk) return status;
    const size_t items = route.accelerator != nullptr
                             ? route.accelerator->chunk_items(*request.scheme, request.op, records, threads_)
                             : chunk_items(route.backend->op(request.op), records.count, threads_);
    return start_job(std::make_shared<Job>(request, route, items, std::move(done)));
  } catch (const std::bad_alloc&) {
    fail_batch(records, request.scheme->record_bytes(request.op), route, Status::kOutOfMemory);
    return Status::kOutOfMemory;
  }
}

void Engine::compute_here(Job& job) {
  ProcessState& mine = states_.get();
  job.work(mine.workers, mine.profile);
}

Status Engine::run(const Request& request) {
  return start(request, {}, [this](const std::shared_ptr<Job>& job) {
    ThreadPool* const threads = threads_ > 1 && job->chunks() > 1 ? pool() : nullptr;
    if (threads == nullptr) {
      compute_here(*job);
      return job->status();
    }
    threads->submit(job);
    return job->wait();
  });
}

Status Engine::run_here(const Request& request) {
  return start(request, {}, [this](const std::shared_ptr<Job>& job) {
    compute_here(*job);
    return job->status();
  });
}

Status Engine::submit(const Request& request, Job::Done done, std::shared_ptr<Job>& out) {
  return start(request, std::move(done), [this, &out](const std::shared_ptr<Job>& job) {
    pool();
    ThreadPool& threads = *states_.get().pool;
    if (threads.size() == 0) return job->refuse(Status::kOutOfMemory);
    out = job;  // the callback, which may come at once, may free the handle that holds it
    threads.submit(job);
    return Status::kOk;
  });
}

Status Engine::refuse(const Request& request, Status failure) {
  return start(request, {}, [failure](const std::shared_ptr<Job>& job) { return job->refuse(failure); });
}

Status Engine::generate_keyset(const Scheme& scheme, size_t count, uint8_t* pk, KeySet& out) {
  if (!count_fits(scheme, count)) return Status::kArgument;
  out.scheme = &scheme;
  out.kind = KeyKind::kSecretKeys;
  out.count = count;
  return fill_by_keygen(out, nullptr, pk);
}

Status Engine::import_keyset(const Scheme& scheme, KeyKind kind, size_t count, const uint8_t* keys, KeySet& out) {
  const bool seeds = kind == KeyKind::kSecretSeeds;
  if (seeds && scheme.secret_seed_bytes() == 0) return Status::kArgument;
  if (!count_fits(scheme, count)) return Status::kArgument;
  out.scheme = &scheme;
  out.kind = seeds ? KeyKind::kSecretKeys : kind;
  out.count = count;
  if (!seeds) return fill(out, keys);
  SecureBuffer pk;
  if (!pk.reserve(count * scheme.public_key_bytes)) return Status::kOutOfMemory;
  return fill_by_keygen(out, keys, reinterpret_cast<uint8_t*>(pk.data()));
}

Status Engine::fill(KeySet& set, const uint8_t* keys) const {
  for (Accelerator* accelerator : accelerators_) {
    if (accelerator->owner_of(keys) == Owner::kUnknown) return Status::kBackendUnavailable;
  }
  Status status = reserve(set);
  if (status != Status::kOk) return status;
  if (set.placed != nullptr) {
    status = set.placed->fill(keys);
  } else {
    for (Accelerator* accelerator : accelerators_) {
      if (accelerator->owner_of(keys) == Owner::kSelf) return Status::kOutOfMemory;  // the host cannot read them
    }
    copy_secret(set.records(), keys, set.count * set.record_bytes());
  }
  if (status == Status::kOk) expand(set);
  zeroize_stack();
  return status;
}

/// Fills the set with secret keys from keygen. coins may be nullptr.
Status Engine::fill_by_keygen(KeySet& set, const uint8_t* coins, uint8_t* pk) {
  Status status = reserve(set);
  if (status != Status::kOk) return status;
  Request request{.op = Op::kKeygen, .scheme = set.scheme};
  request.records.count = set.count;
  request.records.coins = coins;
  request.records.pk_out = pk;
  request.records.sk_out = set.records();
  status = run(request);
  if (status == Status::kOk) expand(set);
  zeroize_stack();
  return status;
}

/// Allocates the records where the batches that use them will run.
Status Engine::reserve(KeySet& set) const {
  const bool signs = set.scheme->is_signature();
  const Op used_by =
      set.kind == KeyKind::kPublicKeys ? (signs ? Op::kVerify : Op::kEncaps) : (signs ? Op::kSign : Op::kDecaps);
  const Route route = route_for(*set.scheme, used_by, set.count);
  if (route.accelerator != nullptr) set.placed = route.accelerator->place_keys(*set.scheme, set.kind, set.count);
  if (set.placed != nullptr) set.accelerator = route.accelerator;
  set.expanded_for = route.backend;
  if (set.placed != nullptr || set.host.reserve(set.count * set.record_bytes())) return Status::kOk;
  return Status::kOutOfMemory;
}

/// Adds the backend's expanded form of the keys, if it has one and there is memory. The caller zeroizes the stack.
void Engine::expand(KeySet& set) const {
  constexpr size_t kAtATime = 64;
  if (set.placed != nullptr) return set.placed->expand();
  if (set.expanded_for == nullptr) return;
  const ExpandedKeyFormat& format = set.expanded_format(*set.expanded_for);
  if (format.bytes == 0 || set.count > KeySet::kExpandedBudget / format.bytes) return;
  SecureBuffer workspace;
  if (!workspace.reserve(format.workspace_bytes(kAtATime)) || !set.host_expanded.reserve(set.count * format.bytes))
    return;
  for (size_t first = 0; first < set.count; first += kAtATime) {
    format.expand(set.host_expanded.data() + first * format.bytes, set.records() + first * set.record_bytes(),
                  std::min(kAtATime, set.count - first), workspace.data());
  }
}

Status Engine::queue_workspace_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes) const {
  Status status = Status::kBackendUnavailable;
  bytes = 0;
  for (Accelerator* accelerator : accelerators_) {
    size_t needed = 0;
    const Status answer = accelerator->queue_workspace_bytes(scheme, op, count, needed);
    if (status != Status::kOk) status = answer;
    if (answer == Status::kOk) bytes = std::max(bytes, needed);
  }
  return status;
}

Status Engine::queue(const Request& request, void* workspace, void* stream) {
  Status status = validate(request);
  if (status != Status::kOk) return status;
  const BatchView& records = request.records;
  if (workspace == nullptr || request.keyset != nullptr || request.sk_is_seed) return Status::kArgument;
  if (request.scheme->is_signature()) return Status::kArgument;  // its messages are on the host
  Request without_status = request;
  without_status.records.item_status = nullptr;  // the accelerator itself writes it
  Route route;
  status = find_route(without_status, route);
  if (status != Status::kOk) return status;
  Fields given = 0;
  for (const FieldInfo& f : kRecordFields)
    given |= f.data(records) != nullptr ? f.field : 0;
  if (route.accelerator == nullptr || route.on_accelerator != given) return Status::kArgument;
  for (const void* array : {static_cast<const void*>(workspace), static_cast<const void*>(records.item_status)}) {
    if (array != nullptr && route.accelerator->owner_of(array) != Owner::kSelf) return Status::kArgument;
  }
  WorkerPool& workers = states_.get().workers;
  auto worker = workers.take();
  if (worker == nullptr) return Status::kOutOfMemory;
  const bool needs_coins = records.coins == nullptr && request.scheme->coin_bytes(request.op) > 0;
  if (needs_coins) status = worker->drbg.prepare();
  if (status == Status::kOk) {
    const Batch batch{records, &worker->drbg};
    status = route.accelerator->queue(*request.scheme, request.op, batch, workspace, stream);
  }
  workers.give_back(std::move(worker));
  if (needs_coins) zeroize_stack();  // the generator's last state
  return status;
}

}  // namespace polykem
