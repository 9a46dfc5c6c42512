// SPDX-License-Identifier: Apache-2.0
// The C API over the engine: checks handles, translates types, lets no exception out.
#include <cstring>
#include <memory>
#include <new>

#include "core/cpu.hpp"
#include "engine/cuda/backend.hpp"
#include "engine/cuda/crossover.hpp"
#include "engine/engine.hpp"
#include "polykem/polykem.h"
#include "schemes/registry.hpp"

using polykem::BackendDescription;
using polykem::Engine;
using polykem::Job;
using polykem::KeyKind;
using polykem::KeySet;
using polykem::Op;
using polykem::Request;
using polykem::Scheme;
using polykem::Status;

static_assert(static_cast<int>(Status::argument) == POLYKEM_ERR_ARGUMENT);
static_assert(static_cast<int>(Status::items) == POLYKEM_ERR_ITEMS);
static_assert(static_cast<int>(Status::internal) == POLYKEM_ERR_INTERNAL);
static_assert(static_cast<int>(Op::decaps) == POLYKEM_DECAPS);
static_assert(sizeof(polykem_status) == sizeof(Status));

struct polykem_context {
  std::unique_ptr<Engine> engine;
};
struct polykem_keyset {
  KeySet set;
};
struct polykem_job {
  std::shared_ptr<Job> job;
};

namespace {

polykem_status to_c(Status status) {
  return static_cast<polykem_status>(status);
}
const Scheme* from_c(const polykem_scheme* scheme) {
  return reinterpret_cast<const Scheme*>(scheme);
}
const polykem_scheme* to_c(const Scheme* scheme) {
  return reinterpret_cast<const polykem_scheme*>(scheme);
}

/// Runs `body`, turning exceptions into status codes.
template <class F>
polykem_status guarded(F&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return POLYKEM_ERR_OUT_OF_MEMORY;
  } catch (...) {
    return POLYKEM_ERR_INTERNAL;
  }
}

Status translate(const polykem_request* in, Request& out) {
  if (in == nullptr || in->struct_size != sizeof(polykem_request)) return Status::argument;
  if (in->op > POLYKEM_DECAPS || in->key_mode > POLYKEM_KEY_SHARED || in->secret_form > POLYKEM_SECRET_SEED)
    return Status::argument;
  out = {.op = static_cast<Op>(in->op),
         .shared_key = in->op != POLYKEM_KEYGEN && in->key_mode == POLYKEM_KEY_SHARED,
         .sk_is_seed = in->op == POLYKEM_DECAPS && in->secret_form == POLYKEM_SECRET_SEED,
         .scheme = from_c(in->scheme),
         .count = in->count,
         .draws = in->draws,
         .pk = in->pk,
         .sk = in->sk,
         .ct = in->ct,
         .pk_out = in->op == POLYKEM_KEYGEN ? in->pk_out : nullptr,
         .sk_out = in->op == POLYKEM_KEYGEN ? in->sk_out : nullptr,
         .ct_out = in->op == POLYKEM_ENCAPS ? in->ct_out : nullptr,
         .ss_out = in->op != POLYKEM_KEYGEN ? in->ss_out : nullptr,
         .item_status = reinterpret_cast<Status*>(in->item_status),
         .keyset = in->keyset == nullptr ? nullptr : &in->keyset->set,
         .key_index = in->key_index};
  return Status::ok;
}

}  // namespace

const char* polykem_status_text(polykem_status status) {
  switch (status) {
    case POLYKEM_OK:
      return "ok";
    case POLYKEM_ERR_ARGUMENT:
      return "an argument is missing, out of range or contradicts another";
    case POLYKEM_ERR_UNKNOWN_SCHEME:
      return "there is no parameter set of that name";
    case POLYKEM_ERR_UNKNOWN_BACKEND:
      return "there is no backend of that name";
    case POLYKEM_ERR_BACKEND_UNAVAILABLE:
      return "this machine or this build cannot run that backend";
    case POLYKEM_ERR_OUT_OF_MEMORY:
      return "out of memory";
    case POLYKEM_ERR_RANDOM:
      return "the operating system gave no random numbers";
    case POLYKEM_ERR_ITEMS:
      return "some items of the batch have errors of their own";
    case POLYKEM_ERR_PUBLIC_KEY:
      return "the public key is malformed";
    case POLYKEM_ERR_SECRET_KEY:
      return "the secret key is malformed";
    case POLYKEM_ERR_CIPHERTEXT:
      return "the ciphertext is malformed";
    case POLYKEM_ERR_SIZE:
      return "a buffer has the wrong size for this parameter set";
    case POLYKEM_ERR_BUSY:
      return "the batch has not finished yet";
    case POLYKEM_ERR_RANGE:
      return "an index is out of range";
    case POLYKEM_ERR_INTERNAL:
      return "internal error; please report it";
  }
  return "unknown status";
}

#define POLYKEM_STRING_(x) #x
#define POLYKEM_STRING(x) POLYKEM_STRING_(x)

const char* polykem_version(void) {
  return POLYKEM_STRING(POLYKEM_VERSION_MAJOR) "." POLYKEM_STRING(POLYKEM_VERSION_MINOR) "." POLYKEM_STRING(
      POLYKEM_VERSION_PATCH);
}

void polykem_zeroize(void* memory, size_t bytes) {
  if (memory != nullptr) polykem::secure_zero(memory, bytes);
}

// ---- parameter sets and backends

size_t polykem_scheme_count(void) {
  return polykem::registry().size();
}

const polykem_scheme* polykem_scheme_at(size_t index) {
  const auto all = polykem::registry();
  return index < all.size() ? to_c(all[index]) : nullptr;
}

polykem_status polykem_scheme_find(const char* name, const polykem_scheme** out) {
  if (name == nullptr || out == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    const Scheme* found = polykem::find_scheme(name);
    if (found == nullptr) return POLYKEM_ERR_UNKNOWN_SCHEME;
    *out = to_c(found);
    return POLYKEM_OK;
  });
}

const char* polykem_scheme_suggest(const char* name) {
  return name == nullptr ? nullptr : polykem::nearest_scheme(name).name;
}

polykem_status polykem_scheme_info(const polykem_scheme* scheme, polykem_scheme_info_t* out) {
  if (scheme == nullptr || out == nullptr) return POLYKEM_ERR_ARGUMENT;
  const Scheme& s = *from_c(scheme);
  *out = {.name = s.name,
          .family = s.family,
          .title = s.title,
          .security_category = s.security_category,
          .public_key_bytes = s.public_key_bytes,
          .secret_key_bytes = s.secret_key_bytes,
          .ciphertext_bytes = s.ciphertext_bytes,
          .shared_secret_bytes = s.shared_secret_bytes,
          .keygen_draw_bytes = s.keygen_draw_bytes,
          .encaps_draw_bytes = s.encaps_draw_bytes,
          .secret_seed_bytes = s.secret_seed_bytes()};
  return POLYKEM_OK;
}

size_t polykem_backend_count(void) {
  return polykem::backends().size();
}

polykem_status polykem_backend_info(size_t index, polykem_backend_info_t* out) {
  if (out == nullptr) return POLYKEM_ERR_ARGUMENT;
  if (index >= polykem::backends().size()) return POLYKEM_ERR_RANGE;
  const BackendDescription& backend = polykem::backends()[index];
  const int available = polykem::backend_available(backend) ? 1 : 0;  // first: it finds out what is missing
  *out = {backend.name, backend.description, polykem::backend_requirements(backend), available};
  return POLYKEM_OK;
}

const char* polykem_cpu_features(void) {
  return polykem::cpu_feature_names();
}

// ---- context

polykem_status polykem_context_new(const polykem_config* config, polykem_context** out) {
  if (out == nullptr) return POLYKEM_ERR_ARGUMENT;
  if (config != nullptr && config->struct_size != sizeof(polykem_config)) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    auto context = std::make_unique<polykem_context>();
    const Status status = config == nullptr ? Engine::create({}, context->engine)
                                            : Engine::create({config->threads, config->backend}, context->engine);
    if (status != Status::ok) return to_c(status);
    *out = context.release();
    return POLYKEM_OK;
  });
}

void polykem_context_free(polykem_context* context) {
  delete context;
}

unsigned polykem_context_threads(const polykem_context* context) {
  return context == nullptr ? 0 : context->engine->threads();
}

const char* polykem_context_backend(const polykem_context* context, const polykem_scheme* scheme) {
  if (context == nullptr || scheme == nullptr) return nullptr;
  const auto* chosen = context->engine->backend_for(*from_c(scheme));
  if (chosen == nullptr) return nullptr;
  for (const BackendDescription& backend : polykem::backends()) {
    if (backend.id == chosen->backend) return backend.name;
  }
  return nullptr;
}

// ---- batches

polykem_status polykem_run(polykem_context* context, const polykem_request* request) {
  if (context == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    Request translated;
    const Status status = translate(request, translated);
    return to_c(status == Status::ok ? context->engine->run(translated) : status);
  });
}

polykem_status polykem_keygen(polykem_context* context, const polykem_scheme* scheme, size_t count, uint8_t* pk,
                              uint8_t* sk) {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = POLYKEM_KEYGEN;
  request.scheme = scheme;
  request.count = count;
  request.pk_out = pk;
  request.sk_out = sk;
  return polykem_run(context, &request);
}

polykem_status polykem_encaps(polykem_context* context, const polykem_scheme* scheme, size_t count,
                              polykem_key_mode key_mode, const uint8_t* pk, uint8_t* ct, uint8_t* ss,
                              polykem_status* item_status) {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = POLYKEM_ENCAPS;
  request.key_mode = key_mode;
  request.scheme = scheme;
  request.count = count;
  request.pk = pk;
  request.ct_out = ct;
  request.ss_out = ss;
  request.item_status = item_status;
  return polykem_run(context, &request);
}

polykem_status polykem_decaps(polykem_context* context, const polykem_scheme* scheme, size_t count,
                              polykem_key_mode key_mode, const uint8_t* sk, const uint8_t* ct, uint8_t* ss,
                              polykem_status* item_status) {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = POLYKEM_DECAPS;
  request.key_mode = key_mode;
  request.scheme = scheme;
  request.count = count;
  request.sk = sk;
  request.ct = ct;
  request.ss_out = ss;
  request.item_status = item_status;
  return polykem_run(context, &request);
}

polykem_status polykem_submit(polykem_context* context, const polykem_request* request, polykem_callback callback,
                              void* user, polykem_job** job_out) {
  if (context == nullptr || (callback == nullptr && job_out == nullptr)) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    Request translated;
    Status status = translate(request, translated);
    if (status != Status::ok) return to_c(status);
    auto handle = job_out == nullptr ? nullptr : std::make_unique<polykem_job>();
    Job::Done done;
    if (callback != nullptr) done = [callback, user](Status s) { callback(user, to_c(s)); };
    std::shared_ptr<Job> job;
    status = context->engine->submit(translated, std::move(done), job);
    if (status != Status::ok) return to_c(status);
    if (job_out != nullptr) {
      handle->job = std::move(job);
      *job_out = handle.release();
    }
    return POLYKEM_OK;
  });
}

polykem_status polykem_job_poll(const polykem_job* job) {
  if (job == nullptr) return POLYKEM_ERR_ARGUMENT;
  return job->job->finished() ? to_c(job->job->status()) : POLYKEM_ERR_BUSY;
}

polykem_status polykem_job_wait(const polykem_job* job) {
  if (job == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] { return to_c(job->job->wait()); });
}

void polykem_job_free(polykem_job* job) {
  if (job == nullptr) return;
  polykem_job_wait(job);
  delete job;
}

// ---- key sets

polykem_status polykem_keyset_import(polykem_context* context, const polykem_scheme* scheme, polykem_key_kind kind,
                                     size_t count, const uint8_t* keys, polykem_keyset** out) {
  if (context == nullptr || scheme == nullptr || count == 0 || keys == nullptr || out == nullptr ||
      kind > POLYKEM_SECRET_SEEDS) {
    return POLYKEM_ERR_ARGUMENT;
  }
  return guarded([&] {
    auto handle = std::make_unique<polykem_keyset>();
    const Status status =
        context->engine->import_keyset(*from_c(scheme), static_cast<KeyKind>(kind), count, keys, handle->set);
    if (status != Status::ok) return to_c(status);
    *out = handle.release();
    return POLYKEM_OK;
  });
}

polykem_status polykem_keyset_generate(polykem_context* context, const polykem_scheme* scheme, size_t count,
                                       uint8_t* pk, polykem_keyset** out) {
  if (context == nullptr || scheme == nullptr || count == 0 || pk == nullptr || out == nullptr)
    return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    auto handle = std::make_unique<polykem_keyset>();
    const Status status = context->engine->generate_keyset(*from_c(scheme), count, pk, handle->set);
    if (status != Status::ok) return to_c(status);
    *out = handle.release();
    return POLYKEM_OK;
  });
}

size_t polykem_keyset_size(const polykem_keyset* keyset) {
  return keyset == nullptr ? 0 : keyset->set.count;
}

void polykem_keyset_free(polykem_keyset* keyset) {
  delete keyset;
}

// ---- data on a GPU

polykem_status polykem_cuda_workspace(const polykem_context* context, const polykem_scheme* scheme, polykem_op op,
                                      size_t count, size_t* bytes) {
  if (context == nullptr || scheme == nullptr || op > POLYKEM_DECAPS || count == 0 || bytes == nullptr) {
    return POLYKEM_ERR_ARGUMENT;
  }
  return guarded([&] { return to_c(polykem::cuda::queue_bytes(*from_c(scheme), static_cast<Op>(op), count, *bytes)); });
}

polykem_status polykem_cuda_queue(polykem_context* context, const polykem_request* request, void* workspace,
                                  void* stream) {
  if (context == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    Request translated;
    const Status status = translate(request, translated);
    return to_c(status == Status::ok ? context->engine->queue_on_device(translated, workspace, stream) : status);
  });
}

// ---- the choice between CPU and GPU

polykem_status polykem_crossover(const polykem_scheme* scheme, polykem_op op, size_t* items, int* measured) {
  if (scheme == nullptr || op > POLYKEM_DECAPS || items == nullptr || measured == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    bool is_measured = false;
    *items = polykem::cuda::Crossovers::instance().items(*from_c(scheme), static_cast<Op>(op), is_measured);
    *measured = is_measured ? 1 : 0;
    return POLYKEM_OK;
  });
}

polykem_status polykem_tune(const polykem_scheme* scheme) {
  if (scheme == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] { return to_c(polykem::cuda::tune(*from_c(scheme))); });
}

const char* polykem_crossover_note(void) {
  return polykem::cuda::Crossovers::instance().note();
}

// ---- profile

polykem_status polykem_profile_enable(polykem_context* context, int enable) {
  if (context == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    context->engine->profile().enable(enable != 0);
    return POLYKEM_OK;
  });
}

polykem_status polykem_profile_read(polykem_context* context, polykem_step_record* records, size_t capacity,
                                    size_t* size) {
  if (context == nullptr || size == nullptr || (records == nullptr && capacity > 0)) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    const auto found = context->engine->profile().read();
    *size = found.size();
    for (size_t i = 0; i < found.size() && i < capacity; ++i) {
      const auto& r = found[i];
      records[i] = {static_cast<polykem_op>(r.op), r.step, r.stages, r.total.calls, r.total.items, r.total.nanoseconds};
    }
    return POLYKEM_OK;
  });
}

polykem_status polykem_plan_step(const polykem_context* context, const polykem_scheme* scheme, polykem_op op,
                                 size_t index, const char** step, const char** stages) {
  if (context == nullptr || scheme == nullptr || step == nullptr || stages == nullptr || op > POLYKEM_DECAPS) {
    return POLYKEM_ERR_ARGUMENT;
  }
  return guarded([&] {
    const auto* backend = context->engine->backend_for(*from_c(scheme));
    if (backend == nullptr) return POLYKEM_ERR_BACKEND_UNAVAILABLE;
    const auto& operation = backend->op(static_cast<Op>(op));
    if (index >= operation.steps.size()) return POLYKEM_ERR_RANGE;
    *step = operation.steps[index].name;
    *stages = polykem::stage_names(operation, index);
    return POLYKEM_OK;
  });
}
