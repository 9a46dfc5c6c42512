// SPDX-License-Identifier: Apache-2.0
#include "broker/connection.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "core/secure.hpp"
#include "core/thread.hpp"
#include "schemes/registry.hpp"

namespace polykem::broker {

namespace {

constexpr int kGreetingMs = 200;
constexpr int kStallMs = 2000;

const char* connect_problem() {
  switch (errno) {
    case EPERM:
      return "the socket belongs to neither root, this user nor the owner of its folder";
    case EACCES:
      return "no permission to connect to the socket";
    case EAGAIN:
      return "too many processes connect to the daemon at once";
    case EMFILE:
    case ENFILE:
      return "no file descriptor is left";
    default:
      return "no daemon listens at the socket";
  }
}

const char* problem_of(HelloResult result) {
  switch (result) {
    case HelloResult::kWelcome:
      break;
    case HelloResult::kOtherVersion:
      return "the daemon is of another version";
    case HelloResult::kFull:
      return "the daemon has no place for another client";
    case HelloResult::kNotAllowed:
      return "the daemon does not allow this user";
    case HelloResult::kNoMemory:
      return "the daemon has no shared memory left for this user";
  }
  return "the daemon's answer is malformed";
}

uint32_t index_of(const Scheme* scheme) {
  const auto all = registry();
  return static_cast<uint32_t>(std::find(all.begin(), all.end(), scheme) - all.begin());
}

/// True if the daemon computed the item. With any other status the whole batch is computed elsewhere.
bool is_result(Status status) {
  return status == Status::kOk || status == Status::kPublicKey || status == Status::kSecretKey ||
         status == Status::kCiphertext;
}

}  // namespace

std::unique_ptr<Connection> Connection::open(const char* path, uint32_t slots, const char*& problem) {
  std::unique_ptr<Connection> out(new Connection);
  if (!out->greet(path, slots, problem)) return nullptr;
  out->stop_event_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!out->stop_event_) {
    problem = "no file descriptor is left";
    return nullptr;
  }
  try {
    out->receiver_ = start_thread([&running = *out] { running.receive(); });
  } catch (const std::system_error&) {
    problem = "the system gives no thread";
    return nullptr;
  }
  problem = "";
  return out;
}

bool Connection::greet(const char* path, uint32_t slots, const char*& problem) {
  socket_ = connect_to(path);
  if (!socket_) {
    problem = connect_problem();
    return false;
  }
  Hello hello;
  hello.registry = registry_fingerprint();
  hello.slots = slots;
  pollfd answer{socket_.get(), POLLIN, 0};
  Welcome welcome;
  Fd memory;
  problem = "the daemon does not answer";
  (void)send_message(socket_.get(), &hello, sizeof hello);  // a daemon that refuses may have hung up: read its answer
  if (::poll(&answer, 1, kGreetingMs) != 1) return false;
  if (receive_message(socket_.get(), &welcome, sizeof welcome, memory) != sizeof welcome) return false;
  problem = problem_of(welcome.result);
  return welcome.result == HelloResult::kWelcome && map(welcome, memory);
}

bool Connection::map(const Welcome& welcome, const Fd& memory) {
  if (welcome.magic != kMagic || welcome.version != kVersion || welcome.slot_bytes != slot_bytes()) return false;
  if (welcome.slots > kMaxSlots || !std::has_single_bit(welcome.slots)) return false;
  if (welcome.map_bytes != map_bytes(welcome.slots) || !memory_.map(memory, welcome.map_bytes)) return false;
  view_ = SharedView(memory_.data(), welcome.slots);
  slots_.resize(welcome.slots);
  for (uint32_t i = welcome.slots; i-- > 0;)  // so that the first slots are used most
    free_.push_back(i);
  return true;
}

Connection::~Connection() {
  if (receiver_.joinable()) {
    const uint64_t one = 1;
    (void)!::write(stop_event_.get(), &one, sizeof one);
    receiver_.join();
  }
  // The daemon may have written since give_back() zeroized, and a child process may still hold the socket open.
  zeroize();
  if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
}

void Connection::EndedBatches::add(std::shared_ptr<SubmittedBatch> batch) {
  if (std::exchange(batch->ended, true)) return;
  SubmittedBatch* const added = batch.get();
  (last == nullptr ? first : last->next) = std::move(batch);
  last = added;
}

void Connection::EndedBatches::call_back() {
  last = nullptr;
  for (std::shared_ptr<SubmittedBatch> batch = std::move(first); batch != nullptr; batch = std::move(batch->next))
    batch->done(batch->status);
}

void Connection::zeroize() {
  for (uint32_t i = 0; i < slots_.size(); ++i)
    polykem::zeroize(view_.records(i), slots_[i].used_bytes);
}

Status Connection::submit(const Request& request, uint64_t deadline_ns, Done done) try {
  const ItemRecords item(*request.scheme, request.op, request.sk_is_seed);
  if (item.coin_bytes() != 0 && request.records.coins == nullptr) return Status::kBackendUnavailable;
  auto batch = std::make_shared<SubmittedBatch>(SubmittedBatch{
      request, deadline_ns, std::move(done), index_of(request.scheme), item, 0, 0, Status::kOk, false, nullptr});
  const std::lock_guard lock(mutex_);
  if (!alive()) return Status::kBackendUnavailable;
  unsent_.push_back(std::move(batch));
  send_some();
  return Status::kOk;
} catch (const std::bad_alloc&) {
  return Status::kOutOfMemory;
}

/// Submits waiting items while there are free slots. The caller holds the lock.
void Connection::send_some() {
  const uint32_t before = published_;
  while (!unsent_.empty() && !free_.empty()) {
    const std::shared_ptr<SubmittedBatch> batch = unsent_.front();
    const uint32_t index = free_.back();
    free_.pop_back();
    write_item(index, batch);
    view_.submission(published_++).store(index, std::memory_order_relaxed);
    if (++batch->sent == batch->request.records.count) unsent_.pop_front();
  }
  if (published_ == before) return;
  SharedHeader& shared = view_.header();
  shared.submitted.store(published_, std::memory_order_seq_cst);
  if (shared.server_sleeps.load(std::memory_order_seq_cst) == 0) return;
  shared.server_sleeps.store(0, std::memory_order_relaxed);
  send_wake(socket_.get());
}

void Connection::write_item(uint32_t index, const std::shared_ptr<SubmittedBatch>& batch) {
  const Request& request = batch->request;
  const BatchView& records = request.records;
  Slot& slot = slots_[index];
  slot.batch = batch;
  slot.item = batch->sent;
  slot.used_bytes = std::max(slot.used_bytes, batch->item.input_bytes() + batch->item.output_bytes());
  uint8_t* at = view_.records(index);
  for (const FieldInfo& f : kRecordFields) {
    const size_t bytes = batch->item.bytes(f), record = f.key && records.shared_key ? 0 : slot.item;
    if (f.in == nullptr || bytes == 0) continue;
    copy_secret(at, records.*f.in + record * bytes, bytes);
    at += bytes;
  }
  SlotHeader& header = view_.slot(index);
  header.set.store(batch->set, std::memory_order_relaxed);
  header.op.store(static_cast<uint32_t>(request.op) | (request.sk_is_seed ? kSkIsSeed : 0), std::memory_order_relaxed);
  header.deadline_ns.store(batch->deadline_ns, std::memory_order_relaxed);
}

/// Copies the result out of a slot and frees it. The caller holds the lock.
void Connection::read_item(uint32_t index, EndedBatches& ended) {
  Slot& slot = slots_[index];
  const std::shared_ptr<SubmittedBatch> batch = std::move(slot.batch);
  const BatchView& records = batch->request.records;
  const auto status = static_cast<Status>(view_.slot(index).status.load(std::memory_order_relaxed));
  if (!is_result(status)) batch->status = Status::kBackendUnavailable;
  if (status != Status::kOk && batch->status == Status::kOk) batch->status = Status::kItems;
  if (records.item_status != nullptr) records.item_status[slot.item] = status;
  const uint8_t* out = view_.records(index) + batch->item.input_bytes();
  for (const FieldInfo& f : kRecordFields) {
    const size_t bytes = batch->item.bytes(f);
    if (f.out == nullptr || bytes == 0) continue;
    copy_secret(records.*f.out + slot.item * bytes, out, bytes);
    out += bytes;
  }
  polykem::zeroize(view_.records(index), batch->item.input_bytes() + batch->item.output_bytes());
  free_.push_back(index);
  if (++batch->finished == records.count) ended.add(batch);
}

bool Connection::busy() {
  const std::lock_guard lock(mutex_);
  return free_.size() < slots_.size();
}

void Connection::receive() {
  while (take_completions() && sleep()) {
  }
  give_back();
}

/// Waits until the daemon wakes this side. Returns false if the daemon hung up or stalled, or the connection is to end.
bool Connection::sleep() {
  SharedHeader& shared = view_.header();
  shared.client_sleeps.store(1, std::memory_order_seq_cst);
  if (shared.completed.load(std::memory_order_seq_cst) != taken_) return true;
  pollfd events[] = {{socket_.get(), POLLIN | POLLRDHUP, 0}, {stop_event_.get(), POLLIN, 0}};
  const bool waits = busy();
  const int many = ::poll(events, 2, kStallMs);
  if (many < 0) return errno == EINTR;
  if (many == 0) return !waits;
  if (events[1].revents != 0 || (events[0].revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) return false;
  char bytes[256];
  const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/// Takes the results that are in the ring. Returns false if the daemon names a slot that is not in use.
bool Connection::take_completions() {
  SharedHeader& shared = view_.header();
  shared.client_sleeps.store(0, std::memory_order_relaxed);
  EndedBatches ended;
  bool sane = true;
  {
    const std::lock_guard lock(mutex_);
    while (sane && shared.completed.load(std::memory_order_acquire) != taken_) {
      const uint32_t index = view_.completion(taken_++).load(std::memory_order_relaxed);
      sane = index < slots_.size() && slots_[index].batch != nullptr;
      if (sane) read_item(index, ended);
    }
    send_some();
  }
  ended.call_back();
  return sane;
}

void Connection::give_back() {
  EndedBatches lost;
  const auto lose = [&lost](std::shared_ptr<SubmittedBatch> batch) {
    batch->status = Status::kBackendUnavailable;
    lost.add(std::move(batch));
  };
  {
    const std::lock_guard lock(mutex_);
    alive_.store(false, std::memory_order_relaxed);
    for (Slot& slot : slots_) {
      if (slot.batch != nullptr) lose(std::move(slot.batch));
    }
    for (std::shared_ptr<SubmittedBatch>& batch : unsent_)
      lose(std::move(batch));
    unsent_.clear();
    zeroize();
  }
  lost.call_back();
}

}  // namespace polykem::broker
