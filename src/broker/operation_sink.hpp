// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "engine/request.hpp"

namespace polykem::broker {

/// An operation that was added to an OperationSink. Destroying it drops the operation; afterwards the callback neither
/// runs nor will. It may be destroyed in its callback.
class PendingItem {
 public:
  virtual ~PendingItem() = default;
  virtual bool finished() const = 0;
  /// The status of a finished operation, whose records are copied out; public_out may be nullptr.
  virtual Status take(uint8_t* public_out, uint8_t* secret_out) = 0;
};

/// Computes the operations of a Server's clients, usually by a batcher. Thread-safe.
class OperationSink {
 public:
  using Done = void (*)(void* user);

  virtual ~OperationSink() = default;
  /// An estimate of the computing time that an operation of this kind costs in a batch, in nanoseconds. Only the kind
  /// of the request matters.
  virtual uint64_t cost_ns(const Request& item) = 0;
  /// The request has one item and no outputs; what its pointers point to is copied. `done` is called once on another
  /// thread, perhaps before this returns, unless the item has finished when this returns.
  virtual Status add(const Request& item, Done done, void* user, std::unique_ptr<PendingItem>& out) = 0;
  /// Until release(), nothing begins: what is added in between may share a batch.
  virtual void hold() {}
  virtual void release() {}
};

}  // namespace polykem::broker
