// SPDX-License-Identifier: Apache-2.0
// KEM operations of the sessions on a loop. The library computes them, in batches where that is faster.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <polykem/polykem.hpp>

#include "net/frame.hpp"
#include "net/handler_memory.hpp"
#include "net/stats.hpp"

namespace polykem::cli::net {

/// The inputs of one operation, copied when it is passed to the library. Members that it does not use are empty.
struct KemInput {
  ByteView public_key;  ///< encaps
  ByteView secret_key;  ///< decaps
  ByteView ciphertext;  ///< decaps
};

/// The outputs of one operation, valid during the call of kem_done(). Members that it does not produce are empty.
struct KemOutput {
  ByteView public_key;     ///< keygen
  ByteView secret_key;     ///< keygen
  ByteView ciphertext;     ///< encaps
  ByteView shared_secret;  ///< encaps, decaps
};

class KemOperations;
struct KemOperation;

/// An intrusive list of operations.
struct KemOperationList {
  KemOperation *first = nullptr, *last = nullptr;

  void push_back(KemOperation& operation);
  void remove(KemOperation& operation);
};

/// The owner of an operation; it has one at a time.
class KemUser {
 public:
  virtual ~KemUser() = default;
  virtual KemInput kem_input(polykem_op op) const = 0;
  /// The operation is about to start. The user may cancel it, for example because its client has gone.
  virtual void kem_starting() {}
  /// The operation has finished. Unless the status is POLYKEM_OK, the outputs are empty. Must not throw.
  virtual void kem_done(polykem_op op, polykem_status status, const KemOutput& out) = 0;

 protected:
  /// Cancels the operation: one that has not started is dropped, and kem_done() will not be called.
  void kem_cancel();

 private:
  friend class KemOperations;
  KemOperation* operation_ = nullptr;
};

struct BatchPolicy {
  std::size_t cap = 1024;               ///< most items in a batch
  std::chrono::microseconds linger{0};  ///< how long a batch that is not full waits for more items
  std::string broker{};                 ///< socket of a polykemd; empty: none
};

/// Used on the loop's thread, where results arrive. The library's threads only post to it.
class KemOperations {
 public:
  KemOperations(asio::io_context& loop, const Context& context, const Scheme& scheme, BatchPolicy policy);
  /// Waits for running operations without calling back. The loop must not run afterwards.
  ~KemOperations();
  KemOperations(const KemOperations&) = delete;
  KemOperations& operator=(const KemOperations&) = delete;

  /// Adds an operation, whose inputs are read some turns of the loop later. If it throws std::bad_alloc, the operation
  /// is not added.
  void add(polykem_op op, std::shared_ptr<KemUser> user);

  /// The batcher, for its figures.
  polykem_batcher* batcher() const { return batcher_.handle(); }
  /// The number of operations without a result.
  std::size_t pending() const { return operations_.size(); }
  BatchStats stats() const;

 private:
  friend class KemUser;
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kOps = 3;

  void gather(int turns);
  void hand_in();
  void hand_in(KemOperation& operation);
  void finished(KemOperation& operation);
  void deliver_finished();
  void deliver(KemOperation& operation);
  std::shared_ptr<KemUser> remove(KemOperation& operation);

  asio::io_context& loop_;
  Scheme scheme_;
  Batcher batcher_;
  std::list<KemOperation> operations_;
  std::list<KemOperation>::iterator first_new_ = operations_.end();  ///< the first that the library does not have yet
  std::size_t new_ = 0, new_before_ = 0;  ///< the number of those, now and one turn of the loop before
  bool gathering_ = false;
  HandlerMemory gathering_memory_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;  ///< while something is pending
  Bytes public_out_;
  SecretBytes secret_out_;
  std::array<std::vector<std::uint64_t>, kOps> items_by_batch_;  ///< operations by the size of their batch
  std::chrono::nanoseconds busy_{0};
  Clock::time_point busy_since_{};

  std::mutex mutex_;  ///< guards the members below
  KemOperationList finished_;
  KemOperationList delivering_;  ///< used by the running handler
  bool posted_ = false;
  HandlerMemory posted_memory_;
};

}  // namespace polykem::cli::net
