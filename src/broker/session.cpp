// SPDX-License-Identifier: Apache-2.0
#include "broker/session.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "schemes/registry.hpp"

namespace polykem::broker {

namespace {

/// The status of operations that the server did not compute. The client computes them itself.
constexpr Status kNotDone = Status::kBusy;
/// The computing time that a client may submit in one turn.
constexpr uint64_t kTurnNs = 1'000'000;
/// The computing time that is charged for reading a submission, whether or not it is computed.
constexpr uint64_t kSubmissionNs = 500;

int open_process(pid_t pid) {
  return pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
}

}  // namespace

Session::Session(Fd socket, Peer peer, OperationSink& sink, Window& window, ServerCounts& counts)
    : socket_(std::move(socket)),
      process_(open_process(peer.pid)),
      peer_(std::move(peer)),
      sink_(sink),
      window_(window),
      counts_(counts),
      since_ns_(monotonic_ns()) {}

Session::~Session() {
  drop_all();
  ::shutdown(socket_.get(), SHUT_RDWR);
}

void Session::zeroize() {
  drop_all();
  for (const Slot& slot : slots_)
    polykem::zeroize(view_.records(slot.index), slot.used_bytes);
}

void Session::drop_all() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (Slot& slot : slots_) {
    std::unique_ptr<PendingItem> item;  // destroyed without the lock, for which a running callback may wait
    const std::lock_guard lock(mutex_);
    if (!slot.busy) continue;
    slot.busy = false;
    ++counts_.dropped;
    --counts_.in_flight;
    leave_window(slot);
    item = std::move(slot.item);
  }
}

bool Session::receive(uint32_t max_slots) {
  if (!greeted_) return greet(max_slots);
  char bytes[256];
  const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool Session::greet(uint32_t max_slots) {
  auto* at = reinterpret_cast<char*>(&hello_) + hello_bytes_;
  const ssize_t got = ::recv(socket_.get(), at, sizeof hello_ - hello_bytes_, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  hello_bytes_ += static_cast<size_t>(got);
  if (hello_bytes_ < sizeof hello_) return true;
  if (hello_.magic != kMagic || hello_.reserved != 0 || hello_.slots == 0) {
    ++counts_.violations;
    return false;
  }
  if (hello_.version != kVersion || hello_.registry != registry_fingerprint()) {
    refuse(HelloResult::kOtherVersion);
    return false;
  }
  if (max_slots != 0 && open(std::bit_floor(std::min(hello_.slots, max_slots)))) return greeted_;
  refuse(HelloResult::kNoMemory);
  ++counts_.short_of_memory;
  return false;
}

/// Maps the shared memory and welcomes the client. Returns false if there is not enough memory.
bool Session::open(uint32_t slots) {
  Fd memory;
  if (!copy_.reserve(slot_bytes()) || !memory_.create(map_bytes(slots), memory)) return false;
  view_ = SharedView(memory_.data(), slots);
  view_.header().submitted = view_.header().completed = kFirstEntry;
  view_.header().server_sleeps = 1;
  slots_.reserve(slots);
  for (uint32_t i = 0; i < slots; ++i)
    slots_.emplace_back(this, i);
  Welcome welcome;
  welcome.slots = slots;
  welcome.slot_bytes = slot_bytes();
  welcome.map_bytes = map_bytes(slots);
  greeted_ = send_message(socket_.get(), &welcome, sizeof welcome, memory.get());
  return true;
}

void Session::refuse(HelloResult result) {
  refuse(socket_.get(), result);
  ++counts_.refused;
}

void Session::refuse(int socket, HelloResult result) {
  Welcome welcome;
  welcome.result = result;
  (void)send_message(socket, &welcome, sizeof welcome);
}

/// The number of waiting submissions. If it is 0, the client will wake this side after the next one.
uint32_t Session::waiting() {
  SharedHeader& shared = view_.header();
  uint32_t waiting = shared.submitted.load(std::memory_order_acquire) - taken_;
  if (waiting == 0) {
    shared.server_sleeps.store(1, std::memory_order_seq_cst);
    waiting = shared.submitted.load(std::memory_order_seq_cst) - taken_;
  }
  if (waiting != 0) shared.server_sleeps.store(0, std::memory_order_relaxed);
  return waiting;
}

Session::Turn Session::take_submissions() {
  const bool burst = waiting() > 1;
  if (burst) sink_.hold();
  const Turn turn = take_a_turn();
  if (burst) sink_.release();
  return turn;
}

Session::Turn Session::take_a_turn() {
  const uint64_t end_ns = share_.used_ns + kTurnNs;
  for (uint32_t n = 0; n < view_.slots() && share_.used_ns < end_ns && (n == 0 || window_.has_room()); ++n) {
    const uint32_t many = waiting();
    if (many == 0) return Turn::kEmpty;
    const uint32_t index = view_.submission(taken_).load(std::memory_order_relaxed);
    if (many > view_.slots() || !claim(index)) {
      ++counts_.violations;
      return Turn::kDrop;
    }
    ++taken_;
    start(slots_[index]);
  }
  return Turn::kMore;
}

bool Session::claim(uint32_t index) {
  const std::lock_guard lock(mutex_);
  if (index >= slots_.size() || slots_[index].busy) return false;
  slots_[index].busy = true;
  slots_[index].finished_early = false;
  ++counts_.in_flight;
  return true;
}

Status Session::read_header(uint32_t index, RequestHeader& out) const {
  const SlotHeader& header = view_.slot(index);
  const uint32_t set = header.set.load(std::memory_order_relaxed);
  const uint32_t op = header.op.load(std::memory_order_relaxed);
  if (set >= registry().size() || (op & ~kSkIsSeed) >= kOpsPerSet) return Status::kArgument;
  out = {.scheme = registry()[set],
         .op = static_cast<Op>(op & ~kSkIsSeed),
         .sk_is_seed = (op & kSkIsSeed) != 0,
         .deadline_ns = header.deadline_ns.load(std::memory_order_relaxed)};
  if (!out.sk_is_seed) return Status::kOk;
  return out.op == Op::kDecaps && out.scheme->secret_seed_bytes() != 0 ? Status::kOk : Status::kArgument;
}

void Session::start(Slot& slot) {
  RequestHeader header{};
  Status status = read_header(slot.index, header);
  if (status == Status::kOk && header.deadline_ns != 0 && header.deadline_ns < monotonic_ns()) {
    ++counts_.late;
    status = kNotDone;
  }
  share_.used_ns += kSubmissionNs;
  std::unique_ptr<PendingItem> item;
  if (status == Status::kOk) status = add(slot, header, item);
  std::unique_lock lock(mutex_);
  if (status == Status::kOk) {
    if (!slot.finished_early && !item->finished()) {
      slot.item = std::move(item);  // on_done() continues with it
      return;
    }
    lock.unlock();
    status = take(slot, *item);
    item.reset();  // waits for a running on_done()
    lock.lock();
  }
  publish(slot, status);
}

/// Copies the records out of the memory that the client can change, and zeroizes them there.
Status Session::add(Slot& slot, const RequestHeader& header, std::unique_ptr<PendingItem>& item) {
  slot.records = ItemRecords(*header.scheme, header.op, header.sk_is_seed);
  const size_t in = slot.records.input_bytes();
  slot.used_bytes = std::max(slot.used_bytes, in + slot.records.output_bytes());
  auto* copy = reinterpret_cast<uint8_t*>(copy_.data());
  copy_secret(copy, view_.records(slot.index), in);
  polykem::zeroize(view_.records(slot.index), in);
  Request request{.op = header.op, .sk_is_seed = header.sk_is_seed, .scheme = header.scheme};
  request.records.count = 1;
  const uint8_t* next = copy;
  for (const FieldInfo& f : kRecordFields) {
    const size_t bytes = slot.records.bytes(f);
    if (f.in == nullptr || bytes == 0) continue;
    request.records.*f.in = next;
    next += bytes;
  }
  slot.cost_ns = sink_.cost_ns(request);
  share_.used_ns += slot.cost_ns;
  window_.begin(slot.cost_ns);
  const Status status = sink_.add(request, on_done, &slot, item);
  polykem::zeroize(copy, in);
  return status;
}

void Session::on_done(void* user) {
  Slot& slot = *static_cast<Slot*>(user);
  Session& session = *slot.session;
  const std::lock_guard lock(session.mutex_);
  if (session.closed_) return;
  if (slot.item == nullptr) {  // start() continues with it
    slot.finished_early = true;
    return;
  }
  const Status status = session.take(slot, *slot.item);
  slot.item.reset();
  session.publish(slot, status);
}

Status Session::take(const Slot& slot, PendingItem& item) {
  uint8_t* const out = view_.records(slot.index) + slot.records.input_bytes();
  const size_t public_bytes = slot.records.public_bytes();
  return item.take(public_bytes == 0 ? nullptr : out, out + public_bytes);
}

void Session::leave_window(Slot& slot) {
  window_.end(std::exchange(slot.cost_ns, 0));
}

/// Returns the slot to the client. The caller holds the lock.
void Session::publish(Slot& slot, Status status) {
  leave_window(slot);
  ++(status == Status::kOk ? counts_.operations : counts_.failed);
  --counts_.in_flight;
  slot.busy = false;
  SharedHeader& shared = view_.header();
  view_.slot(slot.index).status.store(static_cast<uint32_t>(status), std::memory_order_relaxed);
  view_.completion(published_).store(slot.index, std::memory_order_relaxed);
  shared.completed.store(++published_, std::memory_order_seq_cst);
  if (shared.client_sleeps.load(std::memory_order_seq_cst) == 0) return;
  shared.client_sleeps.store(0, std::memory_order_relaxed);
  send_wake(socket_.get());
}

}  // namespace polykem::broker
