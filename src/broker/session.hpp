// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "broker/fair_queue.hpp"
#include "broker/operation_sink.hpp"
#include "broker/protocol.hpp"
#include "broker/shared_memory.hpp"
#include "broker/socket.hpp"
#include "broker/window.hpp"
#include "core/secure.hpp"

namespace polykem::broker {

/// A Server's counters; all but the last two only grow. `short_of_memory` counts the refused clients for which no
/// shared memory was left.
struct ServerCounts {
  std::atomic<uint64_t> accepted{0}, refused{0}, short_of_memory{0}, violations{0};
  std::atomic<uint64_t> operations{0}, failed{0}, late{0}, dropped{0};
  std::atomic<uint64_t> clients{0}, in_flight{0};
};

/// The server's side of one client, which may be hostile: whatever it writes into the shared memory, and whenever,
/// harms only its own operations. Every word is read once, and every record is copied before use. Used by the server's
/// thread and by the threads that finish operations.
class Session {
 public:
  Session(Fd socket, Peer peer, OperationSink& sink, Window& window, ServerCounts& counts);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int socket() const { return socket_.get(); }
  const Peer& peer() const { return peer_; }
  /// A descriptor that is readable once the client's process has ended, even if a child holds the socket; -1 if
  /// unknown.
  int process() const { return process_.get(); }
  bool greeted() const { return greeted_; }
  uint64_t since_ns() const { return since_ns_; }

  /// Reads from the socket. Returns false if the client is to be dropped. max_slots: a power of two; 0: there is no
  /// memory for another client.
  bool receive(uint32_t max_slots);
  /// Bytes of memory that it shares with the client.
  size_t shared_bytes() const { return map_bytes(view_.slots()); }
  enum class Turn { kEmpty, kMore, kDrop };
  /// Takes submissions until they cost more than a turn or are as many as the ring holds, and adds their cost to the
  /// client's share. Does not throw.
  Turn take_submissions();
  FairQueue::Share& share() { return share_; }
  /// Zeroizes what a dead client left in the shared memory. A living one may be reading results, and zeroizes them
  /// itself.
  void zeroize();
  /// Sends the result and counts a refusal.
  void refuse(HelloResult result);
  static void refuse(int socket, HelloResult result);

 private:
  struct Slot {
    Slot(Session* owner, uint32_t number) : session(owner), index(number) {}
    Session* session;
    uint32_t index;
    bool busy = false;
    bool finished_early = false;  ///< its callback ran before add() had returned
    uint64_t cost_ns = 0;         ///< its share of the window
    ItemRecords records{};
    size_t used_bytes = 0;  ///< the most that any operation has written there
    std::unique_ptr<PendingItem> item;
  };
  /// The client's request, each word of which was read once.
  struct RequestHeader {
    const Scheme* scheme;
    Op op;
    bool sk_is_seed;
    uint64_t deadline_ns;
  };

  bool greet(uint32_t max_slots);
  bool open(uint32_t slots);
  uint32_t waiting();
  Turn take_a_turn();
  bool claim(uint32_t index);
  Status read_header(uint32_t index, RequestHeader& out) const;
  void start(Slot& slot);
  Status add(Slot& slot, const RequestHeader& header, std::unique_ptr<PendingItem>& item);
  static void on_done(void* user);
  Status take(const Slot& slot, PendingItem& item);
  void publish(Slot& slot, Status status);
  void leave_window(Slot& slot);
  void drop_all();

  Fd socket_, process_;
  const Peer peer_;
  OperationSink& sink_;
  Window& window_;
  ServerCounts& counts_;
  const uint64_t since_ns_;
  Hello hello_{};
  size_t hello_bytes_ = 0;
  bool greeted_ = false;

  FairQueue::Share share_;
  SharedMemory memory_;
  SharedView view_;
  uint32_t taken_ = kFirstEntry;  ///< kFirstEntry plus the submissions read so far
  SecureBuffer copy_;             ///< the records of the operation being taken
  std::mutex mutex_;              ///< guards the rest
  uint32_t published_ = kFirstEntry;
  bool closed_ = false;
  std::vector<Slot> slots_;
};

}  // namespace polykem::broker
