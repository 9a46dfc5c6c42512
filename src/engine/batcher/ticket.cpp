// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/ticket.hpp"

#include <cstring>
#include <new>

#include "core/secure.hpp"
#include "prim/drbg/fork_generation.hpp"

namespace polykem {

namespace {

/// The lengths of the caller's records.
RecordBytes record_bytes(const Request& request) {
  RecordBytes bytes = request.scheme->record_bytes(request.op);
  if (request.sk_is_seed) bytes.sk = request.scheme->secret_seed_bytes();
  return bytes;
}

/// The arrays of an operation, draws included.
Fields fields_of(const Request& request) {
  switch (request.op) {
    case Op::keygen:
      return field::kDraws | field::kPkOut | field::kSkOut;
    case Op::encaps:
      return field::kDraws | field::kPk | field::kCtOut | field::kSsOut;
    case Op::decaps:
      return field::kSk | field::kCt | field::kSsOut;
  }
  return 0;
}

}  // namespace

/// One allocation: the ticket, then its arrays.
Ticket* Ticket::create(const Request& request) noexcept {
  size_t bytes = 0;
  const RecordBytes lengths = record_bytes(request);
  for (const FieldInfo& f : kRecordFields)
    bytes += (fields_of(request) & f.field) != 0 ? lengths.*f.bytes : 0;
  void* memory = ::operator new(sizeof(Ticket) + bytes, std::nothrow);
  return memory == nullptr ? nullptr : new (memory) Ticket(request, bytes);
}

Ticket::Ticket(const Request& request, size_t data_bytes)
    : scheme_(request.scheme),
      op_(request.op),
      sk_is_seed_(request.sk_is_seed),
      bytes_(record_bytes(request)),
      data_bytes_(data_bytes),
      process_(ForkGeneration::of_process()) {
  uint8_t* next = data();
  arrays_.count = 1;
  for (const FieldInfo& f : kRecordFields) {
    if ((fields_of(request) & f.field) == 0) continue;
    const uint8_t* given = f.data(request.records);
    if (f.in != nullptr && given != nullptr) {
      std::memcpy(next, given, bytes_.*f.bytes);
    } else {
      std::memset(next, 0, bytes_.*f.bytes);
    }
    if (f.in != nullptr) arrays_.*f.in = next;
    if (f.out != nullptr) arrays_.*f.out = next;
    next += bytes_.*f.bytes;
  }
}

/// A copy of the process has what its parent held: nobody else there uses it.
void Ticket::release() noexcept {
  const bool foreign = is_foreign();
  const bool last = references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (!last && !foreign) return;
  secure_zero(data(), data_bytes_);
  this->~Ticket();
  ::operator delete(this);
}

bool Ticket::is_foreign() const {
  return process_ != ForkGeneration::of_process();
}

Request Ticket::request() {
  Request request{.op = op_, .sk_is_seed = sk_is_seed_, .scheme = scheme_, .records = arrays_};
  request.run_on = RunOn::cpu;
  return request;
}

Status Ticket::wait() {
  for (int state = state_.load(std::memory_order_acquire); state != kDone;
       state = state_.load(std::memory_order_acquire)) {
    if (is_foreign()) return Status::argument;
    state_.wait(state, std::memory_order_acquire);
  }
  return status_;
}

Status Ticket::take(uint8_t* public_out, uint8_t* secret_out) {
  const Status status = wait();
  if (!finished()) return status;
  for (const FieldInfo& f : kRecordFields) {
    if (f.out == nullptr || arrays_.*f.out == nullptr) continue;
    uint8_t* const to = f.secret ? secret_out : public_out;
    if (to != nullptr) std::memcpy(to, arrays_.*f.out, bytes_.*f.bytes);
  }
  return status;
}

void Ticket::finish(Status status) noexcept {
  if (status != Status::ok) {
    for (const FieldInfo& f : kRecordFields)
      if (f.out != nullptr && arrays_.*f.out != nullptr) secure_zero(arrays_.*f.out, bytes_.*f.bytes);
  }
  status_ = status;
  state_.store(kDone, std::memory_order_release);
  state_.notify_all();
  runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  int callback = callback_.load(std::memory_order_acquire);
  while (callback == kUnarmed || callback == kArmed) {
    const int next = callback == kArmed ? kRunning : kOver;
    if (callback_.compare_exchange_weak(callback, next, std::memory_order_acq_rel)) break;
  }
  if (callback != kArmed) return;
  done_(user_);
  callback_.store(kOver, std::memory_order_release);
  callback_.notify_all();
}

void Ticket::arm(Callback done, void* user) noexcept {
  done_ = done;
  user_ = user;
  int unarmed = kUnarmed;
  callback_.compare_exchange_strong(unarmed, done == nullptr ? kOver : kArmed, std::memory_order_acq_rel);
}

void Ticket::disarm() noexcept {
  int armed = kArmed;
  if (callback_.compare_exchange_strong(armed, kOver, std::memory_order_acq_rel)) return;
  while (callback_.load(std::memory_order_acquire) == kRunning) {
    if (runner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
    callback_.wait(kRunning, std::memory_order_acquire);
  }
}

}  // namespace polykem
