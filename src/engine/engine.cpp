// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/cuda/backend.hpp"
#include "engine/cuda/crossover.hpp"

namespace polykem {

namespace {

unsigned usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

Status forced_backend(const char* configured, std::optional<BackendId>& out) {
  const char* name = configured != nullptr ? configured : std::getenv("POLYKEM_BACKEND");
  if (name == nullptr || *name == '\0') return Status::ok;
  const BackendDescription* backend = find_backend(name);
  if (backend == nullptr) return Status::unknown_backend;
  if (!backend_available(*backend)) return Status::backend_unavailable;
  out = backend->id;
  return Status::ok;
}

bool is_available(BackendId id) {
  const auto all = backends();
  return std::any_of(all.begin(), all.end(), [id](const auto& b) { return b.id == id && backend_available(b); });
}

constexpr size_t divided_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

/// Items per chunk: what fits the cache, but so that every thread gets as many chunks as the others, in whole lanes.
size_t chunk_items(const Operation& operation, size_t count, unsigned threads) {
  const size_t share = divided_up(count, threads);
  const size_t chunks_of_share = divided_up(share, operation.chunk);
  return std::min(operation.chunk, divided_up(share, chunks_of_share * operation.granule) * operation.granule);
}

}  // namespace

Status Engine::create(const EngineConfig& config, std::unique_ptr<Engine>& out) {
  std::optional<BackendId> forced;
  const Status status = forced_backend(config.backend, forced);
  if (status != Status::ok) return status;
  const unsigned threads = config.threads == 0 ? usable_cpus() : config.threads;
  out.reset(new (std::nothrow) Engine(threads, forced));
  return out == nullptr ? Status::out_of_memory : Status::ok;
}

const SchemeBackend* Engine::backend_for(const Scheme& scheme, Op op, size_t count) const {
  const auto pays = [&] { return cuda::Crossovers::instance().pays(scheme, op, count); };
  if (forced_.has_value() ? *forced_ == BackendId::cuda : pays()) {
    const SchemeBackend* gpu = cuda::backend_for(scheme);
    if (gpu != nullptr || forced_.has_value()) return gpu;
  }
  for (const SchemeBackend& candidate : scheme.backends) {
    if (forced_.has_value() ? candidate.backend == *forced_ : is_available(candidate.backend)) return &candidate;
  }
  return nullptr;
}

const SchemeBackend* Engine::backend_for(const Request& request) const {
  const bool on_device = (request.keyset != nullptr && request.keyset->on_device()) || cuda::has_device_arrays(request);
  return on_device ? cuda::backend_for(*request.scheme) : backend_for(*request.scheme, request.op, request.count);
}

/// Where the batches that use the keys will run.
const SchemeBackend* Engine::backend_for(const KeySet& set) const {
  return backend_for(*set.scheme, set.kind == KeyKind::public_keys ? Op::encaps : Op::decaps, set.count);
}

Status Engine::make_job(const Request& request, Job::Done done, std::shared_ptr<Job>& out) const {
  const Status status = validate(request);
  if (status != Status::ok) return status;
  const SchemeBackend* backend = backend_for(request);
  if (backend == nullptr) return Status::backend_unavailable;
  const size_t chunk = backend->backend == BackendId::cuda
                           ? cuda::chunk_items(request, threads_)
                           : chunk_items(backend->op(request.op), request.count, threads_);
  try {
    out = std::make_shared<Job>(request, *backend, chunk, std::move(done));
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory;
  }
  return Status::ok;
}

ThreadPool& Engine::pool() {
  std::call_once(pool_started_, [this] { pool_ = std::make_unique<ThreadPool>(threads_, workers_, profile_); });
  return *pool_;
}

Status Engine::run(const Request& request) {
  std::shared_ptr<Job> job;
  const Status status = make_job(request, {}, job);
  if (status != Status::ok) return status;
  if (threads_ > 1 && job->chunks() > 1) {
    pool().submit(job);
    return job->wait();
  }
  job->work(workers_, profile_);
  return job->status();
}

Status Engine::submit(const Request& request, Job::Done done, std::shared_ptr<Job>& out) {
  const Status status = make_job(request, std::move(done), out);
  if (status == Status::ok) pool().submit(out);
  return status;
}

Status Engine::generate_keyset(const Scheme& scheme, size_t count, uint8_t* pk, KeySet& out) {
  return fill_by_keygen(scheme, count, nullptr, pk, out);
}

Status Engine::import_keyset(const Scheme& scheme, KeyKind kind, size_t count, const uint8_t* keys, KeySet& out) {
  if (kind == KeyKind::secret_seeds) {
    if (scheme.secret_seed_bytes() == 0) return Status::argument;
    if (count > std::numeric_limits<ptrdiff_t>::max() / scheme.public_key_bytes) return Status::argument;
    SecureBuffer pk;
    if (!pk.reserve(count * scheme.public_key_bytes)) return Status::out_of_memory;
    return fill_by_keygen(scheme, count, keys, reinterpret_cast<uint8_t*>(pk.data()), out);
  }
  out.scheme = &scheme;
  out.kind = kind;
  out.count = count;
  if (count > std::numeric_limits<ptrdiff_t>::max() / out.record_bytes()) return Status::argument;
  const Status status = reserve(out);
  if (status != Status::ok) return status;
  const size_t bytes = count * out.record_bytes();
  if (out.on_device()) return out.device_records.fill(keys, bytes);
  std::memcpy(out.record(0), keys, bytes);
  expand(out);
  return Status::ok;
}

/// Secret keys from keygen; draws may be nullptr.
Status Engine::fill_by_keygen(const Scheme& scheme, size_t count, const uint8_t* draws, uint8_t* pk, KeySet& out) {
  out.scheme = &scheme;
  out.kind = KeyKind::secret_keys;
  out.count = count;
  Status status = reserve(out);
  if (status != Status::ok) return status;
  status =
      run({.op = Op::keygen, .scheme = &scheme, .count = count, .draws = draws, .pk_out = pk, .sk_out = out.record(0)});
  if (status == Status::ok) expand(out);
  return status;
}

/// Adds the backend's own form of the keys, if there is one and memory for it.
void Engine::expand(KeySet& set) const {
  constexpr size_t kAtATime = 64;
  const SchemeBackend* backend = backend_for(set);
  if (set.on_device() || backend == nullptr) return;
  const KeyForm& form = set.form(*backend);
  if (form.bytes == 0 || set.count > KeySet::kExpandedBudget / form.bytes) return;
  SecureBuffer workspace;
  if (!workspace.reserve(form.workspace_bytes(kAtATime)) || !set.expanded.reserve(set.count * form.bytes)) return;
  for (size_t first = 0; first < set.count; first += kAtATime) {
    form.expand(set.expanded.data() + first * form.bytes, set.record(first), std::min(kAtATime, set.count - first),
                workspace.data());
  }
  set.expanded_for = backend->backend;
  wipe_stack();
}

/// Room for the records where the batches that use them will run.
Status Engine::reserve(KeySet& set) const {
  const SchemeBackend* backend = backend_for(set);
  const size_t bytes = set.count * set.record_bytes();
  if (backend != nullptr && backend->backend == BackendId::cuda && set.device_records.allocate(bytes) == Status::ok) {
    return Status::ok;
  }
  return set.records.reserve(bytes) ? Status::ok : Status::out_of_memory;
}

Status Engine::queue_on_device(const Request& request, void* workspace, void* stream) {
  const Status status = validate(request);
  if (status != Status::ok) return status;
  if (workspace == nullptr || request.keyset != nullptr || request.item_status != nullptr) return Status::argument;
  const auto worker = workers_.take();
  if (worker == nullptr) return Status::out_of_memory;
  return cuda::queue(request, worker->drbg, workspace, stream);
}

}  // namespace polykem
