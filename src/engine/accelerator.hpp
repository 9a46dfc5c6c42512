// SPDX-License-Identifier: Apache-2.0
// The seam between the engine and whatever computes batches beside the CPU: GPUs, a hardware core.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/backend.hpp"
#include "core/scheme.hpp"
#include "engine/crossover.hpp"
#include "engine/keyset.hpp"

namespace polykem {

/// Whose memory a pointer leads to. unknown: the device does not answer, so nothing may be done with the pointer.
enum class Owner { other, self, unknown };

/// A device, or several of a kind. One object a process for each kind; thread-safe. Its memory may hold the records of
/// a batch: the engine passes such pointers on and never reads through them.
class Accelerator {
 public:
  /// crossover_file: where measured crossovers are kept, see Crossovers. guess: the crossover until then.
  Accelerator(const BackendDescription& description, const char* crossover_file, size_t guess);
  virtual ~Accelerator() = default;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  const BackendDescription& description() const { return description_; }
  const char* name() const { return description_.name; }
  /// From how many items on a batch is sooner done here than on the CPU.
  Crossovers& crossovers() { return crossovers_; }

  /// True if it can run batches. The first call loads what that takes.
  virtual bool available() = 0;
  /// What the devices are, e.g. "1 x NVIDIA H200"; only if it is available.
  virtual std::string devices() = 0;
  /// Why it is not available or what failed last, in the device's words; "" if there is nothing to say. Static storage.
  virtual const char* problem() = 0;

  /// The operations of a set on this accelerator, nullptr if it is not available or lacks the set. They return
  /// Status::backend_unavailable or Status::out_of_memory for a batch that the CPU may take over.
  virtual const SchemeBackend* backend_for(const Scheme& scheme) = 0;
  /// Items of a chunk of the batch, which one thread hands over at a time.
  virtual size_t chunk_items(const Scheme& scheme, Op op, const BatchView& batch, unsigned threads) = 0;

  /// Owner::other as long as it is not in use.
  virtual Owner owner_of(const void* pointer) = 0;
  /// Overwrites memory that it owns with zeros.
  virtual void zero(void* memory, size_t bytes) = 0;
  /// Room for `count` keys; nullptr if there is none, the set then lives on the host.
  virtual std::unique_ptr<KeyMemory> place_keys(const Scheme& scheme, KeyKind kind, size_t count) = 0;

  /// Workspace that queue() wants.
  virtual Status queue_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes) = 0;
  /// Queues a batch on the caller's stream, an opaque handle of the device's kind, and returns. Every array lies in the
  /// device's memory; workspace too.
  virtual Status queue(const Scheme& scheme, Op op, const Batch& batch, void* workspace, void* stream) = 0;

 private:
  const BackendDescription description_;
  Crossovers crossovers_;
};

/// Those of this library, best first. The only list of them.
std::span<Accelerator* const> accelerators();

}  // namespace polykem
