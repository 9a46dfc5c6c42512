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

/// A worker's connection to the daemon, with a thread that waits for results. A daemon that has work but finishes
/// nothing for two seconds counts as dead. Thread-safe.
class Connection {
 public:
  using Done = std::function<void(Status)>;

  /// Connects and greets. Waits at most half a second to be accepted and a fifth of a second for the answer. On failure
  /// returns nullptr and sets `problem` to the reason, a static string.
  static std::unique_ptr<Connection> open(const char* path, uint32_t slots, const char*& problem);
  /// Ends what is in flight with Status::kBackendUnavailable, as a hang-up does.
  ~Connection();

  /// False after a hang-up. The connection is then useless.
  bool alive() const { return alive_.load(std::memory_order_relaxed); }
  /// Submits a batch with coins. `done` is called once, on any thread; the arrays must stay valid until then.
  /// Status::kBackendUnavailable, returned or passed to `done`, means that the CPU must compute the batch. deadline_ns:
  /// on the clock of monotonic_ns(); 0: none.
  Status submit(const Request& request, uint64_t deadline_ns, Done done);

 private:
  struct SubmittedBatch {
    Request request;
    uint64_t deadline_ns;
    Done done;
    uint32_t set;
    ItemRecords item;
    size_t sent = 0, finished = 0;
    Status status = Status::kOk;
    bool ended = false;                    ///< it is in an EndedBatches list
    std::shared_ptr<SubmittedBatch> next;  ///< in that list
  };
  /// A list of finished batches whose callbacks are still to be called, in order. It allocates nothing, because a
  /// failure could not be reported where results arrive.
  struct EndedBatches {
    std::shared_ptr<SubmittedBatch> first;
    SubmittedBatch* last = nullptr;

    void add(std::shared_ptr<SubmittedBatch> batch);
    void call_back();
  };
  struct Slot {
    std::shared_ptr<SubmittedBatch> batch;  ///< nullptr: free
    size_t item = 0;
    size_t used_bytes = 0;  ///< the most that any operation has written there
  };

  Connection() = default;
  bool greet(const char* path, uint32_t slots, const char*& problem);
  bool map(const Welcome& welcome, const Fd& memory);
  void send_some();
  void write_item(uint32_t index, const std::shared_ptr<SubmittedBatch>& batch);
  void read_item(uint32_t index, EndedBatches& ended);
  void receive();
  bool busy();
  bool sleep();
  bool take_completions();
  void give_back();
  void zeroize();

  Fd socket_, stop_event_;
  SharedMemory memory_;
  SharedView view_;
  std::atomic<bool> alive_{true};
  uint32_t taken_ = kFirstEntry;  ///< kFirstEntry plus the completions read so far
  std::mutex mutex_;              ///< guards the rest
  uint32_t published_ = kFirstEntry;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::deque<std::shared_ptr<SubmittedBatch>> unsent_;  ///< the first may have been sent in part
  std::thread receiver_;
};

}  // namespace polykem::broker
