// SPDX-License-Identifier: Apache-2.0
// Contexts, key sets and batches: the C API's handles with Python's lifetimes.
//
// Handles are shared: a running batch keeps its context and its key set, even if they are closed meanwhile. The last
// owner is always a Python thread, never a callback.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "gil.hpp"
#include "message_array.hpp"
#include "pieces.hpp"
#include "record_fields.hpp"

namespace polykem::python {

using ContextHandle = std::shared_ptr<polykem_context>;

/// A handle that one thread may close while another takes it, also without the GIL.
template <class Handle>
class Closable {
 public:
  void set(std::shared_ptr<Handle> handle) {
    const std::lock_guard lock(mutex_);
    handle_ = std::move(handle);
  }
  /// The object; null if it is closed.
  std::shared_ptr<Handle> get() const {
    const std::lock_guard lock(mutex_);
    return handle_;
  }
  void close() noexcept {
    std::shared_ptr<Handle> last;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    last.swap(handle_);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Handle> handle_;
};

/// A queue of finished jobs, in the order in which they finished. Worker threads push, one Python thread waits.
class Completions {
 public:
  /// A job of submit(), allocated before it starts, so that its end needs no memory.
  struct Finished {
    std::uint64_t number;
    int status = POLYKEM_OK;
    std::unique_ptr<Finished> next;
  };
  /// State shared with the jobs in flight. It has no Python objects, so that worker threads never need the GIL.
  class Queue {
   public:
    Queue() = default;
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    void push(std::unique_ptr<Finished> finished) noexcept;
    const Finished* wait(double seconds);  ///< the first, or null
    void drop() noexcept;

   private:
    std::mutex mutex_;
    std::condition_variable any_;
    std::unique_ptr<Finished> first_;
    Finished* last_ = nullptr;
  };
  /// Waits without the GIL, at most `seconds`, for a finished job. Returns its number and status; nothing if none
  /// finished.
  std::optional<std::pair<std::uint64_t, int>> wait(double seconds);
  /// Removes the job that wait() returned. Until then it is kept, in case the caller runs out of memory.
  void drop() noexcept { queue_->drop(); }
  const std::shared_ptr<Queue>& queue() const noexcept { return queue_; }

 private:
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

class Context;

class KeySet {
 public:
  KeySet(const Context& context, std::size_t scheme, int kind, std::size_t count, nb::handle keys);
  static std::unique_ptr<KeySet> generate(const Context& context, std::size_t scheme, std::size_t count,
                                          nb::handle pk_out);
  std::size_t size() const { return polykem_keyset_size(handle().get()); }
  int status() const noexcept { return status_; }
  std::shared_ptr<polykem_keyset> handle() const { return handle_.get(); }  ///< null: closed
  void close() noexcept { handle_.close(); }

 private:
  KeySet() = default;
  void adopt(const ContextHandle& context, polykem_status status, polykem_keyset* made);
  int status_ = POLYKEM_OK;
  Closable<polykem_keyset> handle_;
};

/// Arrays of records by RecordField::argument; each is None, an object with a buffer, or DeviceBytes.
using ArraysByName = nb::typed<nb::dict, nb::str, nb::any>;

/// The messages to sign or verify: a polykem_message_kind, messages, contexts, the hash's object identifier (may be
/// empty), and whether signatures are deterministic.
using SignedTuple = nb::typed<nb::tuple, int, MessageTuple, MessageTuple, nb::any, bool>;

/// The library's view of the messages of `count` items. It keeps the Python buffers alive.
struct SignedMessages {
  SignedMessages(const SignedTuple& given, std::size_t count);
  polykem_messages get() const;

  polykem_message_kind kind;
  MessageArray messages, contexts;
  Bytes digest_oid;
  bool deterministic;
};

/// A polykem_request whose arrays are checked against the set's sizes and kept alive.
class Request {
 public:
  Request(int op, std::size_t scheme, std::size_t count, const ArraysByName& arrays, int key_mode, int secret_form,
          nb::handle item_status, const KeySet* keyset, nb::handle key_index, nb::handle messages);
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  const polykem_request& get() const noexcept { return request_; }
  /// A request for some of the items, and the structs that it points to.
  struct Piece {
    polykem_request request{};
    polykem_messages messages{};
    std::vector<std::size_t> index;
  };
  /// Sets `out` to the request for `items` items from item `first` on.
  void piece(std::size_t first, std::size_t items, Piece& out) const;
  static constexpr std::size_t kOperations = 5;
  std::size_t kind() const noexcept { return kind_; }  ///< the number of its operation and set
  bool on_device() const noexcept { return on_device_; }
  void wipe_outputs() const noexcept;  ///< in host memory

 private:
  const std::uint8_t* input(nb::handle object, const char* name, std::size_t bytes);
  std::uint8_t* output(nb::handle object, const char* name, std::size_t bytes);

  void refuse_overlaps() const;

  struct Held {
    Bytes bytes;
    const char* name;
    bool written;
  };
  polykem_request request_{};
  RecordLengths lengths_{};
  std::size_t kind_ = 0;
  bool on_device_ = false;  ///< an array is in the memory of a GPU
  std::vector<Held> held_;
  std::shared_ptr<polykem_keyset> keyset_;
  std::optional<SignedMessages> signed_;
  polykem_messages messages_{};
};

struct StepRecord {
  int op;
  std::string step, stages;
  std::uint64_t calls, items, nanoseconds, cycles;
};

class Context {
 public:
  Context(unsigned threads, std::optional<const char*> backend);
  int status() const noexcept { return status_; }  ///< why there is none
  ContextHandle handle() const;
  void close() noexcept { handle_.close(); }
  unsigned threads() const { return polykem_context_threads(handle().get()); }
  const char* backend(std::size_t scheme) const;

  /// Runs the batch without the GIL. A signal handler that raises ends it early; its outputs are then zero.
  int run(const Request& request) const;
  /// Starts the batch. `completions` receives (number, status) when it has finished; the caller keeps request and
  /// context alive until then.
  int submit(const Request& request, const Completions& completions, std::uint64_t number) const;

  std::size_t queue_bytes(int op, std::size_t scheme, std::size_t count) const;
  int queue(const Request& request, std::uintptr_t workspace, std::uintptr_t stream) const;

  int profile(bool enable) const;
  std::vector<StepRecord> profile_records() const;
  std::vector<std::pair<std::string, std::string>> plan(std::size_t scheme, int op) const;

 private:
  int status_ = POLYKEM_OK;
  Closable<polykem_context> handle_;
  std::unique_ptr<Pace[]> paces_;  ///< by Request::kind()
};

/// Returns `status`, or throws std::bad_alloc if it is POLYKEM_ERR_OUT_OF_MEMORY.
polykem_status unless_no_memory(polykem_status status);

/// Python identifies sets by an index. KEM sets come first, then signature sets.
std::size_t set_count();
/// The set with that index. Throws IndexError.
const polykem_scheme* scheme_at(std::size_t index);
polykem_scheme_info_t info_of(const polykem_scheme* scheme);

}  // namespace polykem::python
