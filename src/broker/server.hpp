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
  int listening = -1;          ///< a Unix stream socket that listens, if path is nullptr; it is closed in the end
  mode_t mode = 0600;          ///< of the socket's file
  std::vector<uid_t> uids{};   ///< who may connect besides this process's user
  std::vector<gid_t> gids{};   ///< whose members may connect
  uint32_t most_clients = 256;
  uint32_t most_clients_of_user = 128;
  uint32_t most_slots = 256;  ///< operations in flight of one client; a power of two
  /// Shared memory of all clients; where several users may connect, those of each get at most half of what the others
  /// leave. A client gets at most half of what its user may still have, or one slot.
  size_t most_bytes = size_t{4} << 30;
};

/// The daemon's end: lets worker processes in, reads their rings and hands what they ask for to a Collector, in shares
/// of time that are fair among users and among the clients of one. One thread, which waits for nobody.
class Server {
 public:
  /// Status::kBusy: another process listens at the path. Status::kArgument: no listening there, errno says why.
  [[nodiscard]] static Status create(const ServerConfig& config, Collector& collector, std::unique_ptr<Server>& out);
  /// Takes nothing more, finishes what is in flight, and hangs up.
  ~Server();

  const ServerCounts& counts() const { return counts_; }
  /// Since the thread last looked at its clients, which it does every second at least.
  uint64_t silent_ms() const;

  /// From now on clients are admitted as `config` says; where to listen is not read. Those that are connected stay, and
  /// keep what they have. Returns when it holds. Status::kArgument: limits that create() refuses too.
  [[nodiscard]] Status admit_as(ServerConfig config);

 private:
  Server(const ServerConfig& config, Collector& collector);
  bool watch(int fd, uint64_t id, uint32_t events = 0);
  void unwatch(int fd);

  void loop();
  void on_event(uint64_t id, uint32_t events);
  void accept_clients();
  bool admit(Fd socket);
  bool turn_away(const Fd& socket, Answer answer);
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

  ServerConfig config_;  ///< of the thread
  Collector& collector_;
  Listener listener_;
  Fd epoll_, wake_event_;
  Window window_;
  std::atomic<bool> stopping_{false};
  std::mutex next_mutex_;
  std::condition_variable next_taken_;
  std::optional<ServerConfig> next_config_;  ///< that the thread has not taken yet
  std::atomic<uint64_t> looked_ns_{monotonic_ns()};
  ServerCounts counts_;
  uint64_t listen_again_ns_ = 0;  ///< 0: it listens; else when it tries to accept again
  uint64_t next_id_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Session>> sessions_;
  UserQueue queue_;    ///< sessions whose ring has something, or may have
  bool full_ = false;  ///< the window has no room
  size_t silent_ = 0;  ///< sessions without a greeting so far
  std::thread thread_;
};

}  // namespace polykem::broker
