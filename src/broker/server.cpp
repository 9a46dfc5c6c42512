// SPDX-License-Identifier: Apache-2.0
#include "broker/server.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "core/thread.hpp"

namespace polykem::broker {

namespace {

/// The ids that epoll returns. A session has two: one for its socket and, with kProcess set, one for its process.
constexpr uint64_t kListener = 0, kWake = 1, kRoom = 2, kFirstSession = 4;
constexpr uint64_t kProcess = 1;

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kGreetingTime = 5000 * kMillisecond;
constexpr uint64_t kPauseWithoutDescriptors = 100 * kMillisecond;
constexpr uint64_t kDrainTime = 10'000 * kMillisecond;
constexpr int kTickMs = 100;
/// The longest sleep. It bounds silent_ms() of a thread that has nothing to do.
constexpr int kSleepMs = 1000;
/// The most clients that are admitted before the present ones are served again.
constexpr int kAcceptedInARow = 16;
/// The most clients that are turned away before the present ones are served again. Turning one away costs little.
constexpr int kTurnedAwayInARow = 256;
/// How long operations of several clients are held back so that they can share batches.
constexpr uint64_t kTogether = kMillisecond;
/// The computing time of all operations in flight. A new client waits that long for earlier operations; a batch on the
/// CPU takes about as long.
constexpr uint64_t kWindow = 20 * kMillisecond;

bool has_limits(const ServerConfig& config) {
  return config.max_clients != 0 && config.max_slots != 0 && config.max_clients_of_user != 0 &&
         config.max_slots <= kMaxSlots && std::has_single_bit(config.max_slots);
}

}  // namespace

Server::Server(const ServerConfig& config, OperationSink& sink) : config_(config), sink_(sink), window_(kWindow) {}

Status Server::create(const ServerConfig& config, OperationSink& sink, std::unique_ptr<Server>& out) {
  if ((config.path == nullptr) == (config.listening < 0) || !has_limits(config)) {
    errno = EINVAL;
    return Status::kArgument;
  }
  std::unique_ptr<Server> server(new Server(config, sink));
  const Status status = config.path != nullptr ? server->listener_.listen_at(config.path, config.mode)
                                               : server->listener_.adopt(config.listening);
  if (status != Status::kOk) return status;
  server->epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  server->wake_event_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!server->epoll_ || !server->wake_event_ || !server->watch(server->wake_event_.get(), kWake) ||
      server->window_.room() < 0 || !server->watch(server->window_.room(), kRoom) ||
      !server->watch(server->listener_.fd(), kListener)) {
    return Status::kArgument;
  }
  try {
    server->thread_ = start_thread([&running = *server] { running.loop(); });
  } catch (const std::system_error&) {
    return Status::kOutOfMemory;
  }
  out = std::move(server);
  return Status::kOk;
}

Server::~Server() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  wake();
  thread_.join();
}

void Server::wake() const {
  const uint64_t one = 1;
  (void)!::write(wake_event_.get(), &one, sizeof one);
}

Status Server::admit_as(ServerConfig config) {
  if (!has_limits(config)) return Status::kArgument;
  std::unique_lock lock(next_mutex_);
  next_config_ = std::move(config);
  wake();
  next_taken_.wait(lock, [this] { return !next_config_; });
  return Status::kOk;
}

void Server::take_next_config() {
  uint64_t wakings = 0;
  (void)!::read(wake_event_.get(), &wakings, sizeof wakings);
  const std::lock_guard lock(next_mutex_);
  if (!next_config_) return;
  config_ = std::move(*next_config_);
  next_config_.reset();
  next_taken_.notify_all();
}

uint64_t Server::silent_ms() const {
  const uint64_t looked = looked_ns_, now = monotonic_ns();
  return now > looked ? (now - looked) / kMillisecond : 0;
}

bool Server::watch(int fd, uint64_t id, uint32_t events) {
  epoll_event event{};
  event.events = EPOLLIN | events;
  event.data.u64 = id;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Server::unwatch(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

int Server::timeout_ms() const {
  if (!queue_.empty() && !full_) return 0;
  return silent_ > 0 || listen_again_ns_ != 0 ? kTickMs : kSleepMs;
}

void Server::loop() {
  epoll_event events[64];
  while (!stopping_) {
    const int many = ::epoll_wait(epoll_.get(), events, std::size(events), timeout_ms());
    looked_ns_ = monotonic_ns();
    try {
      for (int i = 0; i < many; ++i)
        on_event(events[i].data.u64, events[i].events);
      serve_in_turns();
      drop_silent();
      if (listen_again_ns_ != 0 && monotonic_ns() > listen_again_ns_ && watch(listener_.fd(), kListener))
        listen_again_ns_ = 0;
    } catch (const std::bad_alloc&) {  // what needed the memory is dropped
    }
  }
  drain();
}

/// Waits for operations that the library has; clients compute the rest themselves.
void Server::drain() {
  const uint64_t end = monotonic_ns() + kDrainTime;
  while (counts_.in_flight > 0 && monotonic_ns() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  sessions_.clear();
  counts_.clients = 0;
}

void Server::on_event(uint64_t id, uint32_t events) {
  if (id == kWake) return take_next_config();
  if (id == kRoom) return window_.read_room();
  if (id == kListener) return accept_clients();
  const bool process_ended = (id & kProcess) != 0;
  id &= ~kProcess;
  if (!sessions_.contains(id)) return;
  // After a hang-up no process would read results, so entries that are left in the ring do not matter.
  if (process_ended || (events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0) return drop(id, Why::kGone);
  Session& session = *sessions_[id];
  const bool greeted = session.greeted();
  if (!session.receive(greeted ? 0 : slots_for(session.peer().uid))) return drop(id, Why::kUnwanted);
  if (!greeted && session.greeted()) --silent_;
  if (session.greeted()) queue_.push(session.peer().uid, id, session.share());
}

/// Gives each waiting client one turn, for a limited time, before the sockets are polled again. Operations of several
/// clients may share batches.
void Server::serve_in_turns() {
  const size_t turns = queue_.size();
  const uint64_t end = monotonic_ns() + kTogether;
  if (turns > 1) sink_.hold();
  for (size_t n = 0; n < turns && monotonic_ns() < end && serve_next(); ++n) {
  }
  if (turns > 1) sink_.release();
}

/// Gives the next client its turn. Returns false if no client waits or the window is full.
bool Server::serve_next() {
  full_ = !queue_.empty() && !window_.has_room();
  if (full_) return false;
  const std::optional<UserQueue::Turn> next = queue_.pop();
  if (!next) return false;
  Session& session = *sessions_[next->client];
  FairQueue::Share& share = session.share();
  share.waits = false;
  const uint64_t before_ns = share.used_ns;
  const Session::Turn turn = session.take_submissions();
  queue_.charge(next->user, share.used_ns - before_ns);
  if (turn == Session::Turn::kMore) queue_.push(next->user, next->client, share);
  if (turn == Session::Turn::kDrop) drop(next->client, Why::kUnwanted);
  return true;
}

void Server::accept_clients() {
  for (int admitted = 0, all = 0; admitted < kAcceptedInARow && all < kTurnedAwayInARow; ++all) {
    Fd socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      admitted += admit(std::move(socket)) ? 1 : 0;
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return;
    // Out of descriptors or memory. Waiting clients keep the listening socket readable, so stop watching it for a
    // while.
    unwatch(listener_.fd());
    listen_again_ns_ = monotonic_ns() + kPauseWithoutDescriptors;
    return;
  }
}

bool Server::may_use(const Peer& peer) const {
  if (peer.uid == ::geteuid()) return true;
  if (std::find(config_.uids.begin(), config_.uids.end(), peer.uid) != config_.uids.end()) return true;
  return std::find_first_of(peer.groups.begin(), peer.groups.end(), config_.gids.begin(), config_.gids.end()) !=
         peer.groups.end();
}

size_t Server::clients_of(uid_t user) const {
  const auto same_user = [&](const auto& entry) { return entry.second->peer().uid == user; };
  return static_cast<size_t>(std::count_if(sessions_.begin(), sessions_.end(), same_user));
}

/// True if only this process's own user may connect.
bool Server::has_one_user() const {
  const auto is_own = [](uid_t user) { return user == ::geteuid(); };
  return config_.gids.empty() && std::all_of(config_.uids.begin(), config_.uids.end(), is_own);
}

/// How many slots another client of the user gets: a power of two, or 0. The user's clients then hold no more memory
/// than stays free, and the client leaves at least as much to the user's next client, unless it has only one slot.
uint32_t Server::slots_for(uid_t user) const {
  size_t all = 0, own = 0;
  for (const auto& [id, session] : sessions_) {
    if (!session->greeted()) continue;
    all += session->shared_bytes();
    own += session->peer().uid == user ? session->shared_bytes() : 0;
  }
  const bool alone = has_one_user();
  const size_t held = alone ? all : all + own;
  const size_t free = config_.max_bytes - std::min(held, config_.max_bytes);
  const size_t users = alone ? free : free / 2;
  uint32_t slots = config_.max_slots;
  while (slots > 1 && map_bytes(slots) > users / 2)
    slots /= 2;
  return map_bytes(slots) <= users ? slots : 0;
}

/// Returns false if the process is turned away.
bool Server::admit(Fd socket) {
  Peer peer{};
  if (!peer_of(socket.get(), peer)) return false;
  if (!may_use(peer)) return turn_away(socket, HelloResult::kNotAllowed);
  const size_t clients = clients_of(peer.uid);
  if (sessions_.size() >= config_.max_clients || clients >= config_.max_clients_of_user)
    return turn_away(socket, HelloResult::kFull);
  queue_.reserve(peer.uid, clients + 1);
  auto session = std::make_unique<Session>(std::move(socket), std::move(peer), sink_, window_, counts_);
  const uint64_t id = kFirstSession + 2 * next_id_++;
  if (!watch(session->socket(), id, EPOLLRDHUP)) {
    session->refuse(HelloResult::kFull);
    return false;
  }
  if (session->process() >= 0) watch(session->process(), id | kProcess);
  sessions_.emplace(id, std::move(session));
  ++silent_;
  ++counts_.accepted;
  counts_.clients = sessions_.size();
  return true;
}

bool Server::turn_away(const Fd& socket, HelloResult result) {
  Session::refuse(socket.get(), result);
  ++counts_.refused;
  return false;
}

void Server::drop(uint64_t id, Why why) {
  const auto found = sessions_.find(id);
  const uid_t user = found->second->peer().uid;
  if (why == Why::kGone) found->second->zeroize();
  if (!found->second->greeted()) --silent_;
  if (found->second->share().waits) queue_.remove(user, id);
  unwatch(found->second->socket());  // a child of the client may hold the socket open
  sessions_.erase(found);
  if (clients_of(user) == 0) queue_.forget(user);
  counts_.clients = sessions_.size();
}

/// Drops clients that have connected but not greeted in time.
void Server::drop_silent() {
  if (silent_ == 0) return;
  const uint64_t now = monotonic_ns();
  std::vector<uint64_t> late;
  for (const auto& [id, session] : sessions_) {
    if (!session->greeted() && now - session->since_ns() > kGreetingTime) late.push_back(id);
  }
  for (const uint64_t id : late) {
    ++counts_.violations;
    drop(id, Why::kUnwanted);
  }
}

}  // namespace polykem::broker
