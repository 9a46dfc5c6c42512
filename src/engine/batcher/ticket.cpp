// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/ticket.hpp"

#include <cstring>
#include <new>

#include "core/secure.hpp"
#include "prim/drbg/fork_generation.hpp"

namespace polykem {

/// A ticket and its inputs are one allocation.
Ticket* Ticket::create(const Request& request) noexcept {
  const ItemRecords item(*request.scheme, request.op, request.sk_is_seed);
  const size_t bytes = item.input_bytes() + item.mu_bytes();
  void* memory = ::operator new(sizeof(Ticket) + bytes, std::nothrow);
  return memory == nullptr ? nullptr : new (memory) Ticket(request, bytes);
}

Ticket::Ticket(const Request& request, size_t data_bytes)
    : scheme_(request.scheme),
      op_(request.op),
      sk_is_seed_(request.sk_is_seed),
      item_(*request.scheme, request.op, request.sk_is_seed),
      data_bytes_(data_bytes),
      process_(ForkGeneration::of_process()) {
  uint8_t* next = data();
  arrays_.count = 1;
  for (const FieldInfo& f : kRecordFields) {
    if (f.in == nullptr || !item_.has(f)) continue;
    const uint8_t* given = f.data(request.records);
    if (given != nullptr) {
      copy_secret(next, given, item_.bytes(f));
    } else {
      std::memset(next, 0, item_.bytes(f));
    }
    arrays_.*f.in = next;
    next += item_.bytes(f);
  }
  if (item_.mu_bytes() > 0) take_message(request, next);
}

void Ticket::take_message(const Request& request, uint8_t* mu) {
  scheme_->mu(op_, key_field(op_).data(request.records), request.records.message, mu);
  arrays_.message = Messages::of_mu(mu);
}

/// In a forked child the parent's other references are never released, so the first release there frees the ticket.
void Ticket::release() noexcept {
  const bool foreign = is_foreign();
  const bool last = references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (!last && !foreign) return;
  zeroize(data(), data_bytes_);
  this->~Ticket();
  ::operator delete(this);
}

bool Ticket::is_foreign() const {
  return process_ != ForkGeneration::of_process();
}

Request Ticket::inputs() const {
  Request request{.op = op_, .sk_is_seed = sk_is_seed_, .scheme = scheme_, .run_on = RunOn::kCpu};
  request.records.count = 1;
  for (const FieldInfo& f : kRecordFields)
    if (f.in != nullptr) request.records.*f.in = arrays_.*f.in;
  request.records.message = arrays_.message;
  return request;
}

Request Ticket::request() const {
  Request request = inputs();
  request.records = arrays_;
  return request;
}

Status Ticket::wait() {
  for (int state = state_.load(std::memory_order_acquire); state != kDone;
       state = state_.load(std::memory_order_acquire)) {
    if (is_foreign()) return Status::kArgument;
    state_.wait(state, std::memory_order_acquire);
  }
  return status_;
}

bool Ticket::reserve_outputs() {
  if (!outputs_.reserve(item_.output_bytes())) return false;
  auto* next = reinterpret_cast<uint8_t*>(outputs_.data());
  for (const FieldInfo& f : kRecordFields) {
    if (f.out == nullptr || !item_.has(f)) continue;
    arrays_.*f.out = next;
    next += item_.bytes(f);
  }
  return true;
}

Status Ticket::take(uint8_t* public_out, uint8_t* secret_out) {
  const Status status = wait();
  if (!finished()) return status;
  for (const FieldInfo& f : kRecordFields) {
    uint8_t* const to = f.secret ? secret_out : public_out;
    if (f.out == nullptr || !item_.has(f) || to == nullptr) continue;
    if (status == Status::kOk) {
      copy_secret(to, arrays_.*f.out, item_.bytes(f));
    } else {
      std::memset(to, 0, item_.bytes(f));
    }
  }
  return status;
}

void Ticket::finish(Status status, size_t items) noexcept {
  status_ = status;
  batch_items_ = items;
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
