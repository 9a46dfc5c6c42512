// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "broker/protocol.hpp"
#include "broker/shared_memory.hpp"
#include "broker/socket.hpp"
#include "engine/request.hpp"

namespace polykem::broker {

/// A worker's connection with the daemon, and a thread that waits for results. A daemon that has work and finishes
/// nothing for two seconds counts as dead. Thread-safe.
class Connection {
 public:
  using Done = std::function<void(Status)>;

  /// Connects and greets; waits half a second at most for its place and a fifth of a second for the daemon's answer.
  /// nullptr with `problem`, static storage.
  static std::unique_ptr<Connection> open(const char* path, uint32_t slots, const char*& problem);
  /// Gives back what is in flight, as a hang-up does.
  ~Connection();

  /// False after a hang-up; the connection is then of no more use.
  bool alive() const { return alive_.load(std::memory_order_relaxed); }
  /// Hands over a batch whose coins are given; its arrays stay valid until done is called, once, on any thread.
  /// Status::kBackendUnavailable, now or from done: the CPU is to compute it. deadline_ns: of monotonic_ns(), 0: none.
  Status submit(const Request& request, uint64_t deadline_ns, Done done);

 private:
  struct Batch {
    Request request;
    uint64_t deadline_ns;
    Done done;
    uint32_t set;
    ItemRecords item;
    size_t sent = 0, finished = 0;
    Status status = Status::kOk;
    bool ended = false;           ///< it is in a list of those whose end is to be told
    std::shared_ptr<Batch> next;  ///< there
  };
  /// Batches whose end is to be told, in order. Takes no memory: results come where nobody could be told of a lack.
  struct EndedBatches {
    std::shared_ptr<Batch> first;
    Batch* last = nullptr;

    void add(std::shared_ptr<Batch> batch);
    void tell_all();
  };
  struct Slot {
    std::shared_ptr<Batch> batch;  ///< nullptr: free
    size_t item = 0;
    size_t used_bytes = 0;  ///< the most that any operation has left there
  };

  Connection() = default;
  bool greet(const char* path, uint32_t slots, const char*& problem);
  bool map(const Welcome& welcome, const Fd& memory);
  void send_some();
  void write_item(uint32_t index, const std::shared_ptr<Batch>& batch);
  void read_item(uint32_t index, EndedBatches& ended);
  void receive();
  bool busy();
  bool sleep();
  bool take_completions();
  void give_back();
  void wipe();

  Fd socket_, stop_event_;
  SharedMemory memory_;
  SharedView view_;
  std::atomic<bool> alive_{true};
  uint32_t taken_ = kFirstEntry;  ///< completions read so far
  std::mutex mutex_;              ///< guards the rest
  uint32_t published_ = kFirstEntry;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::deque<std::shared_ptr<Batch>> unsent_;  ///< the first may have been sent in part
  std::thread receiver_;
};

}  // namespace polykem::broker
