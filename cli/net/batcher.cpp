// SPDX-License-Identifier: Apache-2.0
#include "net/batcher.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

namespace polykem::cli::net {
namespace {

// The items of an operation's first batch, which measures its service time: few enough for the slowest set.
constexpr std::size_t kUnmeasuredItems = 16;
// A queue below this size is not worth a search for items that are no longer wanted.
constexpr std::size_t kSmallQueue = 256;

// Turns of the loop between the first item of a batch and its start: one for the events that are ready, and one for
// those that follow at once, such as the reset of a connection that has just sent its first frame.
constexpr int kTurnsToGather = 2;

bool outranked(polykem_op op) {
  return op != POLYKEM_DECAPS;
}

bool ran(polykem_status status) {
  return status == POLYKEM_OK || status == POLYKEM_ERR_ITEMS;
}

// The part of a contiguous batch array that belongs to item i; empty if the operation does not fill that array.
template <class Array>
ByteView record(const Array& array, std::size_t record_bytes, std::size_t i) {
  return array.empty() ? ByteView() : ByteView(array).subspan(i * record_bytes, record_bytes);
}

template <class Array>
void append(Array& array, ByteView bytes) {
  array.insert(array.end(), bytes.begin(), bytes.end());
}

}  // namespace

// One batch in flight: its users, its arrays, and what keeps the loop alive until the library calls back.
struct KemBatcher::Batch {
  Batch(KemBatcher& batcher, polykem_op operation)
      : owner(batcher), op(operation), work(batcher.loop_.get_executor()) {}

  void gather(const polykem_scheme_info_t& info);
  polykem_request request(const Scheme& scheme);
  void deliver(const polykem_scheme_info_t& info, polykem_status status);

  KemBatcher& owner;
  polykem_op op;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  Clock::time_point submitted{};
  Clock::time_point finished{};
  std::chrono::nanoseconds expected{0};  // its estimated duration, as far as known
  std::vector<std::shared_ptr<KemUser>> users;
  Bytes pk, ct;
  SecretBytes sk, ss;
  std::vector<polykem_status> item_status;
  HandlerMemory done;  // for the handler that the library's thread posts
};

// Copies the inputs into contiguous arrays and sizes the arrays of the outputs.
void KemBatcher::Batch::gather(const polykem_scheme_info_t& info) {
  const std::size_t count = users.size();
  if (op == POLYKEM_ENCAPS) pk.reserve(count * info.public_key_bytes);
  if (op == POLYKEM_DECAPS) {
    sk.reserve(count * info.secret_key_bytes);
    ct.reserve(count * info.ciphertext_bytes);
  }
  for (const auto& user : users) {
    const KemInput input = user->kem_input(op);
    append(pk, input.public_key);
    append(sk, input.secret_key);
    append(ct, input.ciphertext);
  }
  if (op == POLYKEM_KEYGEN) {
    pk.resize(count * info.public_key_bytes);
    sk.resize(count * info.secret_key_bytes);
  } else {
    ss.resize(count * info.shared_secret_bytes);
    if (op == POLYKEM_ENCAPS) ct.resize(count * info.ciphertext_bytes);
  }
  item_status.assign(count, POLYKEM_OK);
}

polykem_request KemBatcher::Batch::request(const Scheme& scheme) {
  polykem_request out = Context::request(op, scheme, users.size());
  out.item_status = item_status.data();
  switch (op) {
    case POLYKEM_KEYGEN:
      out.pk_out = pk.data();
      out.sk_out = sk.data();
      break;
    case POLYKEM_ENCAPS:
      out.pk = pk.data();
      out.ct_out = ct.data();
      out.ss_out = ss.data();
      break;
    case POLYKEM_DECAPS:
      out.sk = sk.data();
      out.ct = ct.data();
      out.ss_out = ss.data();
      break;
  }
  return out;
}

void KemBatcher::Batch::deliver(const polykem_scheme_info_t& info, polykem_status status) {
  for (std::size_t i = 0; i < users.size(); ++i) {
    const polykem_status item = ran(status) ? item_status[i] : status;
    KemOutput out;
    if (item == POLYKEM_OK) {
      if (op == POLYKEM_KEYGEN) {
        out.public_key = record(pk, info.public_key_bytes, i);
        out.secret_key = record(sk, info.secret_key_bytes, i);
      } else {
        out.shared_secret = record(ss, info.shared_secret_bytes, i);
        if (op == POLYKEM_ENCAPS) out.ciphertext = record(ct, info.ciphertext_bytes, i);
      }
    }
    users[i]->kem_done(op, item, out);
  }
}

KemBatcher::KemBatcher(asio::io_context& loop, const Context& context, const Scheme& scheme, BatchPolicy policy)
    : loop_(loop), context_(context), scheme_(scheme), policy_(policy), linger_timer_(loop) {}

KemBatcher::~KemBatcher() {
  std::unique_lock lock(callbacks_mutex_);
  callbacks_done_.wait(lock, [this] { return callbacks_due_ == 0; });
}

void KemBatcher::add(polykem_op op, std::shared_ptr<KemUser> user) {
  Queue& queue = queues_[op];
  if (queue.items.size() >= std::max(queue.sweep_at, kSmallQueue)) drop_unwanted(queue);
  queue.items.push_back({std::move(user), Clock::now()});
  schedule_dispatch(kTurnsToGather);
}

// Searched again only when the queue has doubled, so that the search costs each item a constant.
void KemBatcher::drop_unwanted(Queue& queue) {
  std::erase_if(queue.items, [](const Waiting& waiting) { return !waiting.user->kem_wanted(); });
  queue.sweep_at = 2 * queue.items.size();
}

// Deferred, because handlers that are ready now may add items to the same batch, or find that a client has gone.
void KemBatcher::schedule_dispatch(int turns) {
  if (std::exchange(dispatch_posted_, true)) return;
  asio::post(loop_, HandlerIn(dispatch_memory_, [this, turns] {
               dispatch_posted_ = false;
               if (turns > 1) return schedule_dispatch(turns - 1);
               dispatch();
             }));
}

void KemBatcher::dispatch() {
  while (in_flight_.size() < std::max(context_.threads(), 1U)) {
    const auto op = next_op();
    if (!op || !start_batch(*op)) return;
  }
}

// The operation of highest priority whose batch may start. An operation that waits for more items does not block a
// lower one.
std::optional<polykem_op> KemBatcher::next_op() {
  std::optional<Clock::time_point> more_until;
  const Clock::time_point now = Clock::now();
  for (const polykem_op op : {POLYKEM_DECAPS, POLYKEM_ENCAPS, POLYKEM_KEYGEN}) {
    auto& items = queues_[op].items;
    while (!items.empty() && !items.front().user->kem_wanted())
      items.pop_front();
    if (items.empty()) continue;
    const Clock::time_point due = items.front().since + policy_.linger;
    if (due <= now || items.size() >= policy_.cap) return op;
    more_until = more_until ? std::min(*more_until, due) : due;
  }
  if (more_until) wait_for_more(*more_until);
  return std::nullopt;
}

// How many items a batch of `op` may have now; 0: it has to wait for one in flight.
std::size_t KemBatcher::items_allowed(polykem_op op) const {
  if (!outranked(op)) return policy_.cap;
  std::chrono::nanoseconds left = kMostAhead;
  for (const auto& batch : in_flight_) {
    if (outranked(batch->op)) left -= batch->expected;
  }
  if (left <= left.zero()) return 0;
  const bool first = left == kMostAhead;
  const auto fit = times_.items_in(op, std::min<std::chrono::nanoseconds>(left, kMostAhead / 2));
  if (!fit) return first ? std::min(kUnmeasuredItems, policy_.cap) : 0;
  if (!first && *times_.of(op, 1) > left) return 0;
  return std::min(*fit, policy_.cap);
}

bool KemBatcher::start_batch(polykem_op op) {
  const std::size_t most = items_allowed(op);
  if (most == 0) return false;
  auto& items = queues_[op].items;
  // Takes all memory before the first item leaves its queue.
  auto batch = std::make_unique<Batch>(*this, op);
  batch->users.reserve(std::min(most, items.size()));
  in_flight_.reserve(in_flight_.size() + 1);
  while (!items.empty() && batch->users.size() < most) {
    if (items.front().user->kem_wanted()) batch->users.push_back(std::move(items.front().user));
    items.pop_front();
  }
  batch->expected = times_.of(op, batch->users.size()).value_or(kMostAhead);
  batch->submitted = Clock::now();
  if (in_flight_.empty()) busy_since_ = batch->submitted;
  in_flight_.push_back(std::move(batch));
  submit(*in_flight_.back());
  return true;
}

void KemBatcher::submit(Batch& batch) {
  {
    const std::lock_guard lock(callbacks_mutex_);
    ++callbacks_due_;
  }
  polykem_status status = POLYKEM_ERR_OUT_OF_MEMORY;
  try {
    batch.gather(scheme_.info());
    const polykem_request request = batch.request(scheme_);
    status = polykem_submit(context_.handle(), &request, on_library_thread, &batch, nullptr);
  } catch (const std::bad_alloc&) {
  }
  if (status != POLYKEM_OK) on_library_thread(&batch, status);
}

void KemBatcher::wait_for_more(Clock::time_point until) {
  if (lingering_) return;
  linger_timer_.expires_at(until);
  linger_timer_.async_wait([this](const asio::error_code& error) {
    lingering_ = false;
    if (!error) dispatch();
  });
  lingering_ = true;
}

// Runs on a thread of the library, or on the loop's if the batch could not be submitted.
void KemBatcher::on_library_thread(void* user, polykem_status status) {
  auto* batch = static_cast<Batch*>(user);
  KemBatcher& owner = batch->owner;
  batch->finished = Clock::now();
  const std::lock_guard lock(owner.callbacks_mutex_);
  asio::post(owner.loop_, HandlerIn(batch->done, [batch, status] { batch->owner.on_batch_done(batch, status); }));
  --owner.callbacks_due_;
  owner.callbacks_done_.notify_all();
}

void KemBatcher::on_batch_done(Batch* batch, polykem_status status) {
  const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                  [batch](const std::unique_ptr<Batch>& entry) { return entry.get() == batch; });
  const std::unique_ptr<Batch> owned = std::move(*found);
  in_flight_.erase(found);
  if (in_flight_.empty()) stats_.busy += Clock::now() - busy_since_;
  // A batch that could not run gives no measurement.
  if (ran(status)) times_.add(owned->op, owned->users.size(), owned->submitted, owned->finished);
  // After this turn of the loop, because its events may bring more items.
  schedule_dispatch(1);
  owned->deliver(scheme_.info(), status);
  stats_.by_op[owned->op].add(owned->users.size());
}

}  // namespace polykem::cli::net
