// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "broker/session.hpp"
#include "broker/user_queue.hpp"

namespace polykem::broker {

struct ServerConfig {
  const char* path = nullptr;  ///< where to listen
  int listening = -1;          ///< if path is nullptr: a listening Unix stream socket, which the server closes
  mode_t mode = 0600;          ///< of the socket's file
  std::vector<uid_t> uids{};   ///< users that may connect, besides this process's own
  std::vector<gid_t> gids{};   ///< groups whose members may connect
  uint32_t max_clients = 256;
  uint32_t max_clients_of_user = 128;
  uint32_t max_slots = 256;  ///< operations in flight of one client; a power of two
  /// The shared memory of all clients. If several users may connect, the clients of each get at most half of what the
  /// others leave. A client gets at most half of what its user may still have, or one slot.
  size_t max_bytes = size_t{4} << 30;
};

/// The daemon's end: admits worker processes, reads their rings and passes their operations to an OperationSink. Time
/// is shared fairly among users, and among the clients of a user. It has one thread, which never blocks on a client.
class Server {
 public:
  /// Status::kBusy: another process listens at the path. Status::kArgument: it cannot listen there; errno says why.
  [[nodiscard]] static Status create(const ServerConfig& config, OperationSink& sink, std::unique_ptr<Server>& out);
  /// Stops taking operations, finishes those in flight, and hangs up.
  ~Server();

  const ServerCounts& counts() const { return counts_; }
  /// Milliseconds since the thread last polled its clients, which it does at least once a second.
  uint64_t silent_ms() const;

  /// From now on `config` decides who is admitted; path, listening and mode are ignored. Connected clients stay and
  /// keep what they have. Returns when the change is in force. Status::kArgument: limits that create() refuses too.
  [[nodiscard]] Status admit_as(ServerConfig config);

 private:
  Server(const ServerConfig& config, OperationSink& sink);
  bool watch(int fd, uint64_t id, uint32_t events = 0);
  void unwatch(int fd);

  void loop();
  void on_event(uint64_t id, uint32_t events);
  void accept_clients();
  bool admit(Fd socket);
  bool turn_away(const Fd& socket, HelloResult result);
  bool may_use(const Peer& peer) const;
  size_t clients_of(uid_t user) const;
  bool has_one_user() const;
  uint32_t slots_for(uid_t user) const;
  void serve_in_turns();
  bool serve_next();
  enum class Why { kGone, kUnwanted };
  void drop(uint64_t id, Why why);
  void drop_silent();
  int timeout_ms() const;
  void drain();
  void wake() const;
  void take_next_config();

  ServerConfig config_;  ///< used by the thread alone
  OperationSink& sink_;
  Listener listener_;
  Fd epoll_, wake_event_;
  Window window_;
  std::atomic<bool> stopping_{false};
  std::mutex next_mutex_;
  std::condition_variable next_taken_;
  std::optional<ServerConfig> next_config_;  ///< for the thread to take
  std::atomic<uint64_t> looked_ns_{monotonic_ns()};
  ServerCounts counts_;
  uint64_t listen_again_ns_ = 0;  ///< when it accepts again after a lack of descriptors; 0: it accepts
  uint64_t next_id_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Session>> sessions_;
  UserQueue queue_;    ///< sessions whose ring may have entries
  bool full_ = false;  ///< the window has no room
  size_t silent_ = 0;  ///< sessions that have not greeted yet
  std::thread thread_;
};

}  // namespace polykem::broker
