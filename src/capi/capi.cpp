// SPDX-License-Identifier: Apache-2.0
// The C API over the engine: checks handles, translates types, lets no exception out.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "capi/handles.hpp"
#include "core/cpu_features.hpp"
#include "core/limits.hpp"
#include "core/usable_cpus.hpp"
#include "engine/engine.hpp"
#include "engine/job.hpp"
#include "engine/static_text.hpp"
#include "polykem/polykem.h"
#include "schemes/registry.hpp"

using namespace polykem::capi;
using polykem::Accelerator;
using polykem::BackendDescription;
using polykem::CpuBackend;
using polykem::Engine;
using polykem::Job;
using polykem::KeyKind;
using polykem::KeySet;
using polykem::MessageKind;
using polykem::Op;
using polykem::Request;
using polykem::Scheme;
using polykem::Status;

static_assert(static_cast<int>(Status::kOk) == POLYKEM_OK);
static_assert(static_cast<int>(Status::kArgument) == POLYKEM_ERR_ARGUMENT);
static_assert(static_cast<int>(Status::kUnknownScheme) == POLYKEM_ERR_UNKNOWN_SCHEME);
static_assert(static_cast<int>(Status::kUnknownBackend) == POLYKEM_ERR_UNKNOWN_BACKEND);
static_assert(static_cast<int>(Status::kBackendUnavailable) == POLYKEM_ERR_BACKEND_UNAVAILABLE);
static_assert(static_cast<int>(Status::kOutOfMemory) == POLYKEM_ERR_OUT_OF_MEMORY);
static_assert(static_cast<int>(Status::kRandom) == POLYKEM_ERR_RANDOM);
static_assert(static_cast<int>(Status::kItems) == POLYKEM_ERR_ITEMS);
static_assert(static_cast<int>(Status::kPublicKey) == POLYKEM_ERR_PUBLIC_KEY);
static_assert(static_cast<int>(Status::kSecretKey) == POLYKEM_ERR_SECRET_KEY);
static_assert(static_cast<int>(Status::kSize) == POLYKEM_ERR_SIZE);
static_assert(static_cast<int>(Status::kBusy) == POLYKEM_ERR_BUSY);
static_assert(static_cast<int>(Status::kRange) == POLYKEM_ERR_RANGE);
static_assert(static_cast<int>(Status::kInternal) == POLYKEM_ERR_INTERNAL);
static_assert(static_cast<int>(Status::kCiphertext) == POLYKEM_ERR_CIPHERTEXT);
static_assert(static_cast<int>(Status::kSignature) == POLYKEM_ERR_SIGNATURE);
static_assert(static_cast<int>(KeyKind::kPublicKeys) == POLYKEM_PUBLIC_KEYS);
static_assert(static_cast<int>(KeyKind::kSecretKeys) == POLYKEM_SECRET_KEYS);
static_assert(static_cast<int>(KeyKind::kSecretSeeds) == POLYKEM_SECRET_SEEDS);
static_assert(static_cast<int>(Op::kDecaps) == POLYKEM_DECAPS);
static_assert(static_cast<int>(Op::kVerify) == POLYKEM_VERIFY);
static_assert(static_cast<int>(MessageKind::kMu) == POLYKEM_MESSAGE_MU);
static_assert(sizeof(polykem_status) == sizeof(Status));

struct polykem_keyset {
  KeySet set;
};
struct polykem_job {
  std::shared_ptr<Job> job;
};

namespace polykem::capi {

namespace {

bool translate(const polykem_strings& in, Strings& out) {
  out = {in.data, in.offsets, in.width, in.shared != 0};
  return in.offsets == nullptr || (in.width == 0 && in.shared == 0);
}

bool translate(const polykem_messages* given, Messages& out) {
  polykem_messages in;
  if (!read_struct<sizeof(polykem_messages)>(given, in)) return false;
  if (in.kind != POLYKEM_MESSAGE && in.kind != POLYKEM_MESSAGE_DIGEST && in.kind != POLYKEM_MESSAGE_MU) return false;
  if (in.digest_oid == nullptr && in.digest_oid_bytes > 0) return false;
  out.kind = static_cast<MessageKind>(in.kind);
  out.digest_oid = {in.digest_oid, in.digest_oid_bytes};
  out.deterministic = in.deterministic != 0;
  return translate(in.strings, out.strings) && translate(in.contexts, out.contexts);
}

}  // namespace

Status translate(const polykem_request* given, Request& out) {
  polykem_request in;
  if (!read_struct<offsetof(polykem_request, secret_form)>(given, in)) return Status::kArgument;
  constexpr uint32_t kKnownFlags = POLYKEM_CALLER_WAITS;
  const bool known_mode = in.key_mode == POLYKEM_KEY_PER_ITEM || in.key_mode == POLYKEM_KEY_SHARED;
  const bool known_form = in.secret_form == POLYKEM_SECRET_EXPANDED || in.secret_form == POLYKEM_SECRET_SEED;
  if (!is_op(in.op) || !known_mode || !known_form || (in.flags & ~kKnownFlags) != 0) return Status::kArgument;
  out.op = static_cast<Op>(in.op);
  const bool signs = out.op == Op::kSign || out.op == Op::kVerify;
  out.sk_is_seed = (out.op == Op::kDecaps || out.op == Op::kSign) && in.secret_form == POLYKEM_SECRET_SEED;
  out.scheme = from_c(in.scheme);
  out.caller_waits = (in.flags & POLYKEM_CALLER_WAITS) != 0;
  out.keyset = in.keyset == nullptr ? nullptr : &in.keyset->set;
  const bool has_keys = out.op != Op::kKeygen;
  out.records = {.count = in.count,
                 .shared_key = has_keys && in.key_mode == POLYKEM_KEY_SHARED,
                 .coins = in.coins,
                 .pk = in.pk,
                 .sk = in.sk,
                 .ct = in.ct,
                 .sig = in.sig,
                 .message = {},
                 .key_index = has_keys ? in.key_index : nullptr,
                 .expanded = {},
                 .pk_out = in.pk_out,
                 .sk_out = in.sk_out,
                 .ct_out = in.ct_out,
                 .ss_out = in.ss_out,
                 .sig_out = in.sig_out,
                 .item_status = reinterpret_cast<Status*>(in.item_status)};
  for (const FieldInfo& f : kRecordFields) {  // ignore arrays of other operations
    if ((fields_of(out.op) & f.field) != 0) continue;
    f.in != nullptr ? void(out.records.*f.in = nullptr) : void(out.records.*f.out = nullptr);
  }
  if (signs && !translate(in.messages, out.records.message)) return Status::kArgument;
  return Status::kOk;
}

}  // namespace polykem::capi

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
    case POLYKEM_ERR_SIZE:
      return "a buffer has the wrong size for this parameter set";
    case POLYKEM_ERR_BUSY:
      return "not finished yet, or too much in flight";
    case POLYKEM_ERR_RANGE:
      return "an index is out of range";
    case POLYKEM_ERR_INTERNAL:
      return "internal error; please report it";
    case POLYKEM_ERR_CIPHERTEXT:
      return "the ciphertext is malformed";
    case POLYKEM_ERR_SIGNATURE:
      return "the signature is not one of this message under this key";
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
  if (memory != nullptr) polykem::zeroize(memory, bytes);
}

void polykem_zeroize_stack(void) {
  static_assert(polykem::kZeroizedStackBytes == 20 * 1024, "polykem.h says how much of the stack is cleared");
  polykem::zeroize_stack();
}

// ---- parameter sets and backends

size_t polykem_scheme_count(void) {
  return polykem::registry().size();
}

const polykem_scheme* polykem_scheme_at(size_t index) {
  const auto all = polykem::registry();
  return index < all.size() ? to_c(all[index]) : nullptr;
}

namespace {

polykem_status find(const Scheme* (*find_set)(const char*), const char* name, const polykem_scheme** out) {
  if (name == nullptr || out == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    const Scheme* found = find_set(name);
    if (found == nullptr) return POLYKEM_ERR_UNKNOWN_SCHEME;
    *out = to_c(found);
    return POLYKEM_OK;
  });
}

const char* suggest(const Scheme& (*nearest_set)(const char*), const char* name) {
  if (name == nullptr) return nullptr;
  const char* nearest = "";
  guarded([&] {
    nearest = nearest_set(name).name;
    return POLYKEM_OK;
  });
  return nearest;
}

}  // namespace

polykem_status polykem_scheme_find(const char* name, const polykem_scheme** out) {
  return find(polykem::find_scheme, name, out);
}

size_t polykem_signature_count(void) {
  return polykem::signature_registry().size();
}

const polykem_scheme* polykem_signature_at(size_t index) {
  const auto all = polykem::signature_registry();
  return index < all.size() ? to_c(all[index]) : nullptr;
}

polykem_status polykem_signature_find(const char* name, const polykem_scheme** out) {
  return find(polykem::find_signature, name, out);
}

const char* polykem_scheme_suggest(const char* name) {
  return suggest(polykem::nearest_scheme, name);
}

const char* polykem_signature_suggest(const char* name) {
  return suggest(polykem::nearest_signature, name);
}

polykem_status polykem_scheme_info(const polykem_scheme* scheme, polykem_scheme_info_t* out) {
  if (scheme == nullptr || !has_known_size<offsetof(polykem_scheme_info_t, secret_seed_bytes)>(out))
    return POLYKEM_ERR_ARGUMENT;
  const Scheme& s = *from_c(scheme);
  write_struct(out, out->struct_size,
               polykem_scheme_info_t{.struct_size = 0,
                                     .name = s.name,
                                     .family = s.family,
                                     .title = s.title,
                                     .security_category = s.security_category,
                                     .public_key_bytes = s.public_key_bytes,
                                     .secret_key_bytes = s.secret_key_bytes,
                                     .ciphertext_bytes = s.ciphertext_bytes,
                                     .shared_secret_bytes = s.shared_secret_bytes,
                                     .keygen_coin_bytes = s.keygen_coin_bytes,
                                     .encaps_coin_bytes = s.encaps_coin_bytes,
                                     .secret_seed_bytes = s.secret_seed_bytes(),
                                     .public_key_at = s.public_key_at,
                                     .research = s.research ? 1 : 0,
                                     .signature_bytes = s.signature_bytes,
                                     .sign_coin_bytes = s.sign_coin_bytes,
                                     .aliases = s.aliases.data(),
                                     .alias_count = s.aliases.size()});
  return POLYKEM_OK;
}

polykem_status polykem_public_key_of(const polykem_scheme* scheme, const uint8_t* sk, uint8_t* pk) {
  if (scheme == nullptr || sk == nullptr || pk == nullptr) return POLYKEM_ERR_ARGUMENT;
  const Scheme& s = *from_c(scheme);
  if (s.public_key_of != nullptr) return to_c(s.public_key_of(sk, pk));
  if (s.public_key_at == SIZE_MAX) return POLYKEM_ERR_ARGUMENT;
  std::memcpy(pk, sk + s.public_key_at, s.public_key_bytes);
  return POLYKEM_OK;
}

size_t polykem_backend_count(void) {
  return polykem::accelerators().size() + polykem::cpu_backends().size();
}

polykem_status polykem_backend_info(size_t index, polykem_backend_info_t* out) {
  if (!has_known_size<sizeof *out>(out)) return POLYKEM_ERR_ARGUMENT;
  if (index >= polykem_backend_count()) return POLYKEM_ERR_RANGE;
  return guarded([&] {
    const auto accelerators = polykem::accelerators();
    if (index >= accelerators.size()) {
      const CpuBackend& cpu = polykem::cpu_backends()[index - accelerators.size()];
      const int available = cpu.available() ? 1 : 0;
      write_struct(out, out->struct_size,
                   polykem_backend_info_t{0, cpu.name, cpu.description, cpu.requirements, available, 0});
      return POLYKEM_OK;
    }
    Accelerator& accelerator = *accelerators[index];
    const BackendDescription& description = accelerator.description();
    const int available = accelerator.available() ? 1 : 0;  // called first, because it finds out what is missing
    std::string requirements = description.requirements;
    if (*accelerator.problem() != '\0') requirements += std::string("; here: ") + accelerator.problem();
    const auto moved = static_cast<uint32_t>(std::min<size_t>(accelerator.fallbacks(), UINT32_MAX));
    write_struct(out, out->struct_size,
                 polykem_backend_info_t{0, description.name, description.description,
                                        polykem::static_text(requirements), available, moved});
    return POLYKEM_OK;
  });
}

const char* polykem_backend_missing(const char* name) {
  if (name == nullptr) return "no backend was named";
  const char* text = "there is not enough memory";
  guarded([&] {
    std::string why = "there is no such backend";
    if (const CpuBackend* const cpu = polykem::find_cpu_backend(name); cpu != nullptr)
      why = cpu->available() ? "" : std::string("the CPU lacks ") + cpu->requirements;
    for (Accelerator* const accelerator : polykem::accelerators())
      if (std::string_view(name) == accelerator->name()) why = accelerator->missing_files();
    text = why.empty() ? nullptr : polykem::static_text(why);
    return POLYKEM_OK;
  });
  return text;
}

const char* polykem_cpu_features(void) {
  return polykem::cpu_feature_names();
}

unsigned polykem_cpus(const char** why) {
  unsigned cpus = 1;
  guarded([&] {
    const polykem::UsableCpus usable = polykem::usable_cpus();
    cpus = usable.count;
    char quota[64] = "no quota of control groups";
    if (usable.quota > 0) std::snprintf(quota, sizeof quota, "control groups with a quota of %.4g", usable.quota);
    if (why != nullptr) *why = polykem::static_text("an affinity of " + std::to_string(usable.affinity) + ", " + quota);
    return POLYKEM_OK;
  });
  return cpus;
}

uint64_t polykem_limit(polykem_resource resource, const char** why) {
  uint64_t value = 0;
  guarded([&] {
    if (resource != POLYKEM_MEMORY && resource != POLYKEM_THREADS) return POLYKEM_ERR_ARGUMENT;
    const polykem::Limit limit = resource == POLYKEM_MEMORY ? polykem::memory_limit("") : polykem::thread_limit("");
    value = limit.value;
    if (why != nullptr && value != 0) *why = limit.of_group ? "a limit of control groups" : "what the machine has";
    return POLYKEM_OK;
  });
  return value;
}

// ---- context

namespace {

polykem_status new_context(const polykem_config* config, bool open_later, polykem_context** out) {
  if (out == nullptr) return POLYKEM_ERR_ARGUMENT;
  polykem_config given{};
  if (config != nullptr && !read_struct<sizeof(polykem_config)>(config, given)) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    auto context = std::make_unique<polykem_context>();
    const Status status =
        Engine::create({.threads = given.threads, .backend = given.backend, .open_later = open_later}, context->engine);
    if (status != Status::kOk) return to_c(status);
    *out = context.release();
    return POLYKEM_OK;
  });
}

}  // namespace

polykem_status polykem_context_new(const polykem_config* config, polykem_context** out) {
  return new_context(config, false, out);
}

polykem_status polykem_context_new_open_later(const polykem_config* config, polykem_context** out) {
  return new_context(config, true, out);
}

void polykem_context_free(polykem_context* context) {
  if (context != nullptr && !context->engine->is_own_thread()) delete context;
}

unsigned polykem_context_threads(const polykem_context* context) {
  return context == nullptr ? 0 : context->engine->threads();
}

const char* polykem_context_backend(const polykem_context* context, const polykem_scheme* scheme) {
  if (context == nullptr || scheme == nullptr) return nullptr;
  const char* name = nullptr;
  guarded([&] {
    const auto route = context->engine->route_for(*from_c(scheme));
    name = route.backend == nullptr ? nullptr : route.backend->name;
    return POLYKEM_OK;
  });
  return name;
}

// ---- batches

polykem_status polykem_run(polykem_context* context, const polykem_request* request) {
  if (context == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    Request translated;
    const Status status = translate(request, translated);
    return to_c(status == Status::kOk ? context->engine->run(translated) : status);
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
    if (status != Status::kOk) return to_c(status);
    std::unique_ptr<polykem_job> handle(new (std::nothrow) polykem_job);
    if (handle == nullptr) return to_c(context->engine->refuse(translated, Status::kOutOfMemory));
    Job::Done done;
    if (callback != nullptr) done = [callback, user](Status s) { callback(user, to_c(s)); };
    if (job_out == nullptr) return to_c(context->engine->submit(translated, std::move(done), handle->job));
    polykem_job* const before = *job_out;
    *job_out = handle.get();  // before submit(), since the callback may free the job
    status = context->engine->submit(translated, std::move(done), handle->job);
    if (status == Status::kOk) {
      handle.release();
    } else {
      *job_out = before;
    }
    return to_c(status);
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
  const bool known_kind = kind == POLYKEM_PUBLIC_KEYS || kind == POLYKEM_SECRET_KEYS || kind == POLYKEM_SECRET_SEEDS;
  if (context == nullptr || scheme == nullptr || count == 0 || keys == nullptr || out == nullptr || !known_kind)
    return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    auto handle = std::make_unique<polykem_keyset>();
    const Status status =
        context->engine->import_keyset(*from_c(scheme), static_cast<KeyKind>(kind), count, keys, handle->set);
    if (status != Status::kOk) return to_c(status);
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
    if (status != Status::kOk) return to_c(status);
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
  if (context == nullptr || !is_kem_op(scheme, op) || count == 0 || bytes == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    return to_c(context->engine->queue_workspace_bytes(*from_c(scheme), static_cast<Op>(op), count, *bytes));
  });
}

polykem_status polykem_cuda_queue(polykem_context* context, const polykem_request* request, void* workspace,
                                  void* stream) {
  if (context == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    Request translated;
    const Status status = translate(request, translated);
    return to_c(status == Status::kOk ? context->engine->queue(translated, workspace, stream) : status);
  });
}

// ---- the choice between CPU and GPU

polykem_status polykem_crossover(const polykem_scheme* scheme, polykem_op op, size_t* items, int* measured) {
  if (!is_op_of(scheme, op) || items == nullptr || measured == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    bool is_measured = false;
    *items = polykem::gpu_accelerator().crossovers().items(*from_c(scheme), static_cast<Op>(op), is_measured);
    *measured = is_measured ? 1 : 0;
    return POLYKEM_OK;
  });
}

polykem_status polykem_tune(const polykem_scheme* scheme) {
  if (scheme == nullptr) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] { return to_c(polykem::measure_crossovers(polykem::gpu_accelerator(), *from_c(scheme))); });
}

const char* polykem_crossover_note(void) {
  const char* note = "";
  guarded([&] {
    note = polykem::gpu_accelerator().crossovers().note();
    return POLYKEM_OK;
  });
  return note;
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
  if (capacity > 0 && !has_known_size<sizeof *records>(records)) return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    const auto found = context->engine->profile().read();
    *size = found.size();
    const size_t stride = capacity > 0 ? records->struct_size : 0;
    auto* out = reinterpret_cast<uint8_t*>(records);
    for (size_t i = 0; i < found.size() && i < capacity; ++i) {
      const auto& r = found[i];
      write_struct(out + i * stride, stride,
                   polykem_step_record{0, static_cast<polykem_op>(r.op), r.step, r.stages, r.total.calls, r.total.items,
                                       r.total.nanoseconds, r.total.cycles});
    }
    return POLYKEM_OK;
  });
}

polykem_status polykem_plan_step(const polykem_context* context, const polykem_scheme* scheme, polykem_op op,
                                 size_t index, const char** step, const char** stages) {
  if (context == nullptr || scheme == nullptr || step == nullptr || stages == nullptr || !is_op(op))
    return POLYKEM_ERR_ARGUMENT;
  return guarded([&] {
    const auto* backend = context->engine->route_for(*from_c(scheme)).backend;
    if (backend == nullptr) return POLYKEM_ERR_BACKEND_UNAVAILABLE;
    const auto& steps = backend->op(static_cast<Op>(op)).steps;
    if (index >= steps.size()) return POLYKEM_ERR_RANGE;
    *step = steps[index].name;
    *stages = polykem::stage_names(from_c(scheme)->stages.of(static_cast<Op>(op)), steps[index]);
    return POLYKEM_OK;
  });
}
