// SPDX-License-Identifier: Apache-2.0
#include "net/operations.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <asio/post.hpp>

namespace polykem::cli::net {

/// An operation between add() and its result.
struct KemOperation {
  KemOperations& owner;
  polykem_op op;
  std::shared_ptr<KemUser> user;
  bool handed_in = false;
  polykem_status refused = POLYKEM_OK;
  Ticket ticket{};
  std::list<KemOperation>::iterator position{};
  KemOperationList* list = nullptr;  // set after it has finished, until it is delivered
  KemOperation *next = nullptr, *previous = nullptr;
};

void KemOperationList::push_back(KemOperation& operation) {
  operation.list = this;
  operation.next = nullptr;
  operation.previous = last;
  (last == nullptr ? first : last->next) = &operation;
  last = &operation;
}

void KemOperationList::remove(KemOperation& operation) {
  (operation.previous == nullptr ? first : operation.previous->next) = operation.next;
  (operation.next == nullptr ? last : operation.next->previous) = operation.previous;
  operation.list = nullptr;
}

namespace {

constexpr std::size_t kMaxBatchItems = 65536;  // the library's limit

/// Turns of the loop between adding the first operation and passing operations to the library: one for events that are
/// ready, one for those that follow at once, such as the reset of a connection that has just sent its first frame, and
/// more while each turn brings another operation.
constexpr int kMinTurns = 2;
constexpr int kMaxTurns = 8;
constexpr std::size_t kEnoughItems = 64;

polykem_batcher_config batcher_config(const BatchPolicy& policy) {
  polykem_batcher_config config{};
  config.batch_items = std::min(policy.cap, kMaxBatchItems);
  config.linger_us = static_cast<std::uint32_t>(policy.linger.count());
  config.hard_limit = std::numeric_limits<std::size_t>::max();  // the number of sessions is already limited
  config.broker = policy.broker.empty() ? nullptr : policy.broker.c_str();
  return config;
}

}  // namespace

void KemUser::kem_cancel() {
  if (operation_ != nullptr) operation_->owner.remove(*operation_);
}

KemOperations::KemOperations(asio::io_context& loop, const Context& context, const Scheme& scheme, BatchPolicy policy)
    : loop_(loop),
      scheme_(scheme),
      batcher_(context, batcher_config(policy)),
      public_out_(std::max(scheme.public_key_bytes(), scheme.ciphertext_bytes())),
      secret_out_(std::max(scheme.secret_key_bytes(), scheme.shared_secret_bytes())) {
  for (auto& items : items_by_batch_)
    items.resize(std::min(policy.cap, kMaxBatchItems) + 1);
}

KemOperations::~KemOperations() {
  for (KemOperation& operation : operations_)
    operation.user->operation_ = nullptr;
  operations_.clear();
}

void KemOperations::add(polykem_op op, std::shared_ptr<KemUser> user) {
  if (operations_.empty()) busy_since_ = Clock::now();
  operations_.push_back({*this, op, std::move(user)});
  KemOperation& operation = operations_.back();
  operation.position = std::prev(operations_.end());
  operation.user->operation_ = &operation;
  if (new_++ == 0) first_new_ = operation.position;
  if (!work_) work_.emplace(loop_.get_executor());
  if (!std::exchange(gathering_, true)) gather(kMaxTurns);
}

/// Handlers that are ready may add operations to the same batch, or find that a client has gone. While every turn of
/// the loop brings more, all threads have enough work.
void KemOperations::gather(int turns) {
  new_before_ = new_;
  asio::post(loop_, HandlerIn(gathering_memory_, [this, turns] {
               const bool more = turns > kMaxTurns - kMinTurns || new_ > new_before_;
               if (turns > 1 && more && new_ < kEnoughItems) return gather(turns - 1);
               gathering_ = false;
               hand_in();
             }));
}

void KemOperations::hand_in() {
  const bool several = new_ > 1;
  if (several) polykem_batcher_hold(batcher_.handle());
  while (new_ > 0) {
    KemOperation& operation = *first_new_;
    const std::shared_ptr<KemUser> user = operation.user;
    user->kem_starting();
    if (user->operation_ != &operation) continue;  // cancelled
    ++first_new_;
    --new_;
    hand_in(operation);
  }
  if (several) polykem_batcher_release(batcher_.handle());
}

void KemOperations::hand_in(KemOperation& operation) {
  const KemInput input = operation.user->kem_input(operation.op);
  polykem_request request = Context::request(operation.op, scheme_, 1);
  request.pk = input.public_key.data();
  request.sk = input.secret_key.data();
  request.ct = input.ciphertext.data();
  const auto done = [](void* ended) {
    auto& finished = *static_cast<KemOperation*>(ended);
    finished.owner.finished(finished);
  };
  polykem_ticket* ticket = nullptr;
  operation.handed_in = true;
  operation.refused = polykem_batcher_add(batcher_.handle(), &request, done, &operation, &ticket);
  operation.ticket = Ticket(ticket);
  if (operation.refused != POLYKEM_OK || operation.ticket.poll() != POLYKEM_ERR_BUSY) finished(operation);
}

/// Called on any thread, twice for a ticket that finishes while add() returns.
void KemOperations::finished(KemOperation& operation) {
  const std::lock_guard lock(mutex_);
  if (operation.list != nullptr) return;
  finished_.push_back(operation);
  if (std::exchange(posted_, true)) return;
  asio::post(loop_, HandlerIn(posted_memory_, [this] { deliver_finished(); }));
}

/// Delivers the finished operations. Those that finish meanwhile wait for the next turn of the loop.
void KemOperations::deliver_finished() {
  std::unique_lock lock(mutex_);
  posted_ = false;
  while (finished_.first != nullptr) {
    KemOperation& operation = *finished_.first;
    finished_.remove(operation);
    delivering_.push_back(operation);
  }
  while (delivering_.first != nullptr) {
    KemOperation& operation = *delivering_.first;
    lock.unlock();
    deliver(operation);
    lock.lock();
  }
}

void KemOperations::deliver(KemOperation& operation) {
  const polykem_op op = operation.op;
  polykem_status status = operation.refused;
  if (operation.ticket) {
    status = operation.ticket.take(public_out_.data(), secret_out_.data());
    ++items_by_batch_[op][operation.ticket.batch_items()];
  }
  const std::shared_ptr<KemUser> user = remove(operation);
  KemOutput out;
  const polykem_scheme_info_t& info = scheme_.info();
  if (status == POLYKEM_OK && op == POLYKEM_KEYGEN) {
    out.public_key = ByteView(public_out_).first(info.public_key_bytes);
    out.secret_key = ByteView(secret_out_).first(info.secret_key_bytes);
  } else if (status == POLYKEM_OK) {
    out.shared_secret = ByteView(secret_out_).first(info.shared_secret_bytes);
    if (op == POLYKEM_ENCAPS) out.ciphertext = ByteView(public_out_).first(info.ciphertext_bytes);
  }
  user->kem_done(op, status, out);
  polykem_zeroize(secret_out_.data(), secret_out_.size());
}

std::shared_ptr<KemUser> KemOperations::remove(KemOperation& operation) {
  operation.ticket = Ticket();  // no thread of the library uses the operation any more
  std::shared_ptr<KemUser> user = std::move(operation.user);
  user->operation_ = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (operation.list != nullptr) operation.list->remove(operation);
  }
  if (!operation.handed_in) {
    --new_;
    if (first_new_ == operation.position) ++first_new_;
  }
  operations_.erase(operation.position);
  if (operations_.empty()) {
    busy_ += Clock::now() - busy_since_;
    work_.reset();
  }
  return user;
}

BatchStats KemOperations::stats() const {
  BatchStats out;
  out.busy = busy_;
  for (std::size_t op = 0; op < kOps; ++op) {
    for (std::size_t size = 1; size < items_by_batch_[op].size(); ++size) {
      const std::uint64_t items = items_by_batch_[op][size];  // without cancelled operations
      if (items > 0) out.by_op[op].add(size, (items + size - 1) / size);
    }
  }
  return out;
}

}  // namespace polykem::cli::net
