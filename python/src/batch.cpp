// SPDX-License-Identifier: Apache-2.0
#include "batch.hpp"

#include <chrono>
#include <functional>
#include <new>
#include <numeric>

namespace polykem::python {

static_assert(sizeof(polykem_status) == sizeof(std::int32_t), "item status arrays are int32");

std::size_t set_count() {
  return polykem_scheme_count() + polykem_signature_count();
}

const polykem_scheme* scheme_at(std::size_t index) {
  const std::size_t kems = polykem_scheme_count();
  const polykem_scheme* scheme = index < kems ? polykem_scheme_at(index) : polykem_signature_at(index - kems);
  if (scheme == nullptr) throw nb::index_error("no parameter set of that index");
  return scheme;
}

polykem_status unless_no_memory(polykem_status status) {
  if (status == POLYKEM_ERR_OUT_OF_MEMORY) throw std::bad_alloc();
  return status;
}

polykem_scheme_info_t info_of(const polykem_scheme* scheme) {
  polykem_scheme_info_t info{};
  info.struct_size = sizeof info;
  polykem_scheme_info(scheme, &info);
  return info;
}

Completions::Queue::~Queue() {
  while (first_ != nullptr)  // one by one, because a long list would be destroyed recursively
    first_ = std::move(first_->next);
}

void Completions::Queue::push(std::unique_ptr<Finished> finished) noexcept {
  {
    const std::lock_guard lock(mutex_);
    Finished* const added = finished.get();
    (first_ == nullptr ? first_ : last_->next) = std::move(finished);
    last_ = added;
  }
  any_.notify_one();
}

const Completions::Finished* Completions::Queue::wait(double seconds) {
  std::unique_lock lock(mutex_);
  any_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return first_ != nullptr; });
  return first_.get();
}

void Completions::Queue::drop() noexcept {
  const std::lock_guard lock(mutex_);
  if (first_ != nullptr) first_ = std::move(first_->next);
}

std::optional<std::pair<std::uint64_t, int>> Completions::wait(double seconds) {
  const WithoutGil no_gil;
  const Finished* const finished = queue_->wait(seconds);
  if (finished == nullptr) return std::nullopt;
  return std::pair(finished->number, finished->status);
}

namespace {

/// The bytes of `count` records; throws if no array can be that long.
std::size_t total(std::size_t count, std::size_t bytes) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(count, bytes, &product)) refuse("count is larger than memory");
  return product;
}

const RecordField* field_called(nb::handle argument) {
  for (const RecordField& f : kRecordFields)
    if (PyUnicode_Check(argument.ptr()) && PyUnicode_CompareWithASCIIString(argument.ptr(), f.argument) == 0) return &f;
  return nullptr;
}

std::size_t key_bytes(const polykem_scheme_info_t& info, int kind) {
  if (kind == POLYKEM_PUBLIC_KEYS) return info.public_key_bytes;
  return kind == POLYKEM_SECRET_KEYS ? info.secret_key_bytes : info.secret_seed_bytes;
}

}  // namespace

void KeySet::adopt(const ContextHandle& context, polykem_status status, polykem_keyset* made) {
  status_ = status;
  if (status != POLYKEM_OK) return;
  // The context outlives its key sets.
  handle_.set({made, [context](polykem_keyset* keyset) { polykem_keyset_free(keyset); }});
}

KeySet::KeySet(const Context& context, std::size_t scheme, int kind, std::size_t count, nb::handle keys) {
  const polykem_scheme* set = scheme_at(scheme);
  const Bytes bytes(keys, "keys", total(count, key_bytes(info_of(set), kind)), false);
  polykem_keyset* made = nullptr;
  polykem_status status;
  const ContextHandle held = context.handle();
  {
    const WithoutGil no_gil;
    status = polykem_keyset_import(held.get(), set, static_cast<polykem_key_kind>(kind), count, bytes.data(), &made);
  }
  adopt(held, status, made);
}

std::unique_ptr<KeySet> KeySet::generate(const Context& context, std::size_t scheme, std::size_t count,
                                         nb::handle pk_out) {
  const polykem_scheme* set = scheme_at(scheme);
  const Bytes pk(pk_out, "pk", total(count, info_of(set).public_key_bytes), true);
  std::unique_ptr<KeySet> keyset(new KeySet);
  polykem_keyset* made = nullptr;
  polykem_status status;
  const ContextHandle held = context.handle();
  {
    const WithoutGil no_gil;
    status = polykem_keyset_generate(held.get(), set, count, pk.data(), &made);
  }
  keyset->adopt(held, status, made);
  return keyset;
}

SignedMessages::SignedMessages(const SignedTuple& given, std::size_t count)
    : kind(static_cast<polykem_message_kind>(nb::cast<int>(given[0]))),
      messages(nb::cast<MessageTuple>(given[1]), count, "messages"),
      contexts(nb::cast<MessageTuple>(given[2]), count, "context"),
      digest_oid(given[3], "digest_oid", nb::len(nb::handle(given[3])), false),
      deterministic(nb::cast<bool>(given[4])) {}

polykem_messages SignedMessages::get() const {
  return {sizeof(polykem_messages), kind, messages.strings(), contexts.strings(), digest_oid.data(), digest_oid.size(),
          deterministic ? 1 : 0};
}

const std::uint8_t* Request::input(nb::handle object, const char* name, std::size_t bytes) {
  on_device_ = on_device_ || nb::isinstance<DeviceBytes>(object);
  return held_.emplace_back(Held{Bytes(object, name, bytes, false), name, false}).bytes.data();
}

std::uint8_t* Request::output(nb::handle object, const char* name, std::size_t bytes) {
  on_device_ = on_device_ || nb::isinstance<DeviceBytes>(object);
  return held_.emplace_back(Held{Bytes(object, name, bytes, true), name, true}).bytes.data();
}

void Request::refuse_overlaps() const {
  for (const Held& out : held_)
    for (const Held& other : held_) {
      if (!out.written || &out == &other || out.bytes.size() == 0 || other.bytes.size() == 0) continue;
      const std::uint8_t *begin = out.bytes.data(), *end = begin + out.bytes.size();
      if (std::less<>()(other.bytes.data(), end) && std::less<>()(begin, other.bytes.data() + other.bytes.size()))
        refuse(std::string("the output ") + out.name + " overlaps " + other.name +
               "; outputs need memory of their own");
    }
}

Request::Request(int op, std::size_t scheme, std::size_t count, const ArraysByName& arrays, int key_mode,
                 int secret_form, nb::handle item_status, const KeySet* keyset, nb::handle key_index,
                 nb::handle messages) {
  const polykem_scheme* set = scheme_at(scheme);
  kind_ = scheme * kOperations + static_cast<std::size_t>(op);
  request_.struct_size = sizeof request_;
  request_.op = static_cast<polykem_op>(op);
  request_.key_mode = static_cast<polykem_key_mode>(key_mode);
  request_.secret_form = static_cast<polykem_secret_form>(secret_form);
  request_.scheme = set;
  request_.count = count;
  lengths_ = record_lengths(info_of(set), request_);
  const std::size_t keys = key_mode == POLYKEM_KEY_SHARED ? 1 : count;
  for (const auto [argument, array] : arrays) {
    const RecordField* const f = field_called(argument);
    if (f == nullptr) refuse("a batch has no array of that name");
    const std::size_t bytes = total(f->key ? keys : count, lengths_.*f->length);
    if (f->in != nullptr) request_.*f->in = input(array, f->name, bytes);
    if (f->out != nullptr) request_.*f->out = output(array, f->name, bytes);
  }
  request_.item_status =
      reinterpret_cast<polykem_status*>(output(item_status, "status", total(count, sizeof(polykem_status))));
  if (!messages.is_none()) {
    signed_.emplace(nb::cast<SignedTuple>(messages), count);
    messages_ = signed_->get();
    request_.messages = &messages_;
  }
  refuse_overlaps();
  if (keyset == nullptr) return;
  keyset_ = keyset->handle();
  if (keyset_ == nullptr) refuse("the key set is closed");
  request_.keyset = keyset_.get();
  request_.key_index =
      reinterpret_cast<const std::size_t*>(input(key_index, "key_index", total(keys, sizeof(std::size_t))));
}

void Request::piece(std::size_t first, std::size_t items, Piece& out) const {
  polykem_request& piece = out.request;
  piece = request_;
  piece.count = items;
  const bool shared = piece.key_mode == POLYKEM_KEY_SHARED;
  for (const RecordField& f : kRecordFields) {
    const std::size_t skipped = f.key && shared ? 0 : first * (lengths_.*f.length);
    if (f.in != nullptr && piece.*f.in != nullptr) piece.*f.in += skipped;
    if (f.out != nullptr && piece.*f.out != nullptr) piece.*f.out += skipped;
  }
  if (piece.item_status != nullptr) piece.item_status += first;
  if (piece.messages != nullptr) {
    out.messages = messages_;
    out.messages.strings = from_item(messages_.strings, first);
    out.messages.contexts = from_item(messages_.contexts, first);
    piece.messages = &out.messages;
  }
  if (shared) return;
  if (piece.key_index != nullptr) piece.key_index += first;
  if (piece.keyset == nullptr || piece.key_index != nullptr || first == 0) return;
  out.index.resize(items);  // item i uses key i
  std::iota(out.index.begin(), out.index.end(), first);
  piece.key_index = out.index.data();
}

void Request::wipe_outputs() const noexcept {
  for (const Held& held : held_)
    if (held.written && !on_device_) polykem_zeroize(held.bytes.data(), held.bytes.size());
}

Context::Context(unsigned threads, std::optional<const char*> backend) {
  polykem_config config{};
  config.struct_size = sizeof config;
  config.threads = threads;
  config.backend = backend.value_or(nullptr);
  polykem_context* made = nullptr;
  status_ = polykem_context_new(&config, &made);
  if (made != nullptr) handle_.set({made, polykem_context_free});
  const std::size_t kinds = set_count() * Request::kOperations;
  paces_ = std::make_unique<Pace[]>(kinds);
  for (std::size_t i = 0; i < kinds; ++i)
    paces_[i] = kFirstPiece;
}

ContextHandle Context::handle() const {
  ContextHandle open = handle_.get();
  if (open == nullptr) refuse("the Context is closed");
  return open;
}

const char* Context::backend(std::size_t scheme) const {
  return polykem_context_backend(handle().get(), scheme_at(scheme));
}

int Context::run(const Request& request) const {
  const ContextHandle held = handle();
  if (request.on_device()) {
    const WithoutGil no_gil;
    return polykem_run(held.get(), &request.get());
  }
  polykem_status whole = POLYKEM_OK;
  Request::Piece piece;
  if (request.get().keyset != nullptr) piece.index.reserve(request.get().count);  // so that pieces do not fail halfway
  const auto work = [&](std::size_t first, std::size_t items) {
    request.piece(first, items, piece);
    const polykem_status status = polykem_run(held.get(), &piece.request);
    if (status != POLYKEM_OK) whole = status;
    return status == POLYKEM_OK || status == POLYKEM_ERR_ITEMS;
  };
  bool done = false;
  {
    WithoutGil no_gil;
    done = in_pieces(no_gil, paces_[request.kind()], request.get().count, work);
  }
  if (!done || (whole != POLYKEM_OK && whole != POLYKEM_ERR_ITEMS)) request.wipe_outputs();
  if (!done) throw nb::python_error();
  return whole;
}

int Context::submit(const Request& request, const Completions& completions, std::uint64_t number) const {
  struct Finish {
    std::shared_ptr<Completions::Queue> queue;
    std::unique_ptr<Completions::Finished> finished;
  };
  auto finished = std::make_unique<Completions::Finished>();
  finished->number = number;
  auto finish = std::make_unique<Finish>(Finish{completions.queue(), std::move(finished)});
  const polykem_callback callback = [](void* user, polykem_status status) {
    const std::unique_ptr<Finish> done(static_cast<Finish*>(user));
    done->finished->status = status;
    done->queue->push(std::move(done->finished));
  };
  const ContextHandle held = handle();
  const WithoutGil no_gil;
  const polykem_status status = polykem_submit(held.get(), &request.get(), callback, finish.get(), nullptr);
  if (status == POLYKEM_OK) finish.release();
  return status;
}

std::size_t Context::queue_bytes(int op, std::size_t scheme, std::size_t count) const {
  std::size_t bytes = 0;
  polykem_cuda_workspace(handle().get(), scheme_at(scheme), static_cast<polykem_op>(op), count, &bytes);
  return bytes;
}

int Context::queue(const Request& request, std::uintptr_t workspace, std::uintptr_t stream) const {
  const ContextHandle held = handle();
  const WithoutGil no_gil;
  return polykem_cuda_queue(held.get(), &request.get(), reinterpret_cast<void*>(workspace),
                            reinterpret_cast<void*>(stream));
}

int Context::profile(bool enable) const {
  return polykem_profile_enable(handle().get(), enable ? 1 : 0);
}

std::vector<StepRecord> Context::profile_records() const {
  std::size_t size = 0;
  unless_no_memory(polykem_profile_read(handle().get(), nullptr, 0, &size));
  std::vector<polykem_step_record> records(size);
  for (polykem_step_record& record : records)
    record.struct_size = sizeof record;
  unless_no_memory(polykem_profile_read(handle().get(), records.data(), records.size(), &size));
  records.resize(std::min(size, records.size()));
  std::vector<StepRecord> out;
  for (const polykem_step_record& r : records)
    out.push_back({r.op, r.step, r.stages, r.calls, r.items, r.nanoseconds, r.cycles});
  return out;
}

std::vector<std::pair<std::string, std::string>> Context::plan(std::size_t scheme, int op) const {
  std::vector<std::pair<std::string, std::string>> out;
  const char *step = nullptr, *stages = nullptr;
  while (unless_no_memory(polykem_plan_step(handle().get(), scheme_at(scheme), static_cast<polykem_op>(op), out.size(),
                                            &step, &stages)) == POLYKEM_OK)
    out.emplace_back(step, stages);
  return out;
}

}  // namespace polykem::python
