// SPDX-License-Identifier: Apache-2.0
// The interface between the engine and devices that compute batches besides the CPU: GPUs, a hardware core.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "core/backend.hpp"
#include "core/scheme.hpp"
#include "engine/crossover.hpp"
#include "engine/keyset.hpp"

namespace polykem {

/// The owner of the memory at a pointer. kUnknown: the device does not answer, so the pointer must not be used.
enum class Owner { kOther, kSelf, kUnknown };

/// A device, or several of one kind. A process has one object for each kind; it is thread-safe. Its memory may hold the
/// records of a batch: the engine passes such pointers on and never reads through them.
class Accelerator {
 public:
  /// crossover_file: the file of measured crossovers, see Crossovers. guess: the crossover until it is measured.
  Accelerator(const BackendDescription& description, const char* crossover_file, size_t guess);
  virtual ~Accelerator() = default;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  const BackendDescription& description() const { return description_; }
  const char* name() const { return description_.name; }
  /// The batch sizes from which a batch finishes sooner here than on the CPU.
  Crossovers& crossovers() { return crossovers_; }
  /// The number of chunks that the CPU computed because this accelerator failed, since the process began.
  size_t fallbacks() const { return fallbacks_.load(std::memory_order_relaxed); }
  void count_fallback() { fallbacks_.fetch_add(1, std::memory_order_relaxed); }
  /// True if it gets batches only when it is forced. Otherwise it is not opened, and batchers leave it out.
  virtual bool only_if_forced() const { return false; }

  /// The files that it lacks; "" if none is known to be missing. Loads nothing, so that the process may still fork.
  virtual std::string missing_files() { return ""; }
  /// True if it can run batches. The first call loads the driver or module and opens the devices.
  virtual bool available() = 0;
  /// False if available() is known to be false without opening devices, which may take seconds.
  virtual bool may_be_available() { return available(); }
  /// Describes the devices, for example "1 x NVIDIA H200". Call it only if the accelerator is available.
  virtual std::string devices() = 0;
  /// The reason why it is not available, or its last failure, as the driver reports it; "" if there is none. Static
  /// storage.
  virtual const char* problem() = 0;

  /// The operations of a set on this accelerator, nullptr if it is not available or lacks the set. They return
  /// Status::kBackendUnavailable or Status::kOutOfMemory if the CPU may compute the batch instead.
  virtual const SchemeBackend* backend_for(const Scheme& scheme) = 0;
  /// The number of items in a chunk, which one thread hands over at a time.
  virtual size_t chunk_items(const Scheme& scheme, Op op, const BatchView& batch, unsigned threads) = 0;

  /// The owner of the memory at `pointer`; Owner::kOther until the accelerator is in use.
  virtual Owner owner_of(const void* pointer) = 0;
  /// Overwrites memory that it owns with zeros.
  virtual void zero(void* memory, size_t bytes) = 0;
  /// Memory for `count` keys; nullptr if there is not enough. The set then lives on the host.
  virtual std::unique_ptr<KeyMemory> place_keys(const Scheme& scheme, KeyKind kind, size_t count) = 0;

  /// Bytes of workspace that queue() needs. Status::kBackendUnavailable if it is not available, lacks the set or has no
  /// queue.
  virtual Status queue_workspace_bytes(const Scheme& scheme, Op op, size_t count, size_t& bytes) = 0;
  /// Queues a batch on the caller's stream, an opaque handle of the device's kind, and returns. Every array lies in the
  /// device's memory; workspace and item_status too.
  virtual Status queue(const Scheme& scheme, Op op, const Batch& batch, void* workspace, void* stream) = 0;

 private:
  const BackendDescription description_;
  Crossovers crossovers_;
  std::atomic<size_t> fallbacks_{0};
};

/// The accelerators of this library, best first. This is the only list of them.
std::span<Accelerator* const> accelerators();
/// The one of them that runs batches on NVIDIA GPUs.
Accelerator& gpu_accelerator();

}  // namespace polykem
