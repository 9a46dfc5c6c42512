// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device.hpp"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/launcher.hpp"

namespace polykem::cuda {

/// The records and the stream of one batch, on which its launches work. A scheme's context adds the intermediates,
/// those that may hold secrets first.
struct BatchContext {
  BatchContext(const DeviceBatch& batch, cudaStream_t stream) : io(batch), to{stream} {}

  size_t count() const { return io.count; }
  /// Returns how many keys the items have: one if they share it.
  size_t keys() const { return io.shared_key ? 1 : io.count; }

  const DeviceBatch& io;
  Launcher to;
  size_t workspace_bytes = 0;  ///< how many the intermediates take
  size_t secret_bytes = 0;     ///< how many of them may hold secrets

 protected:
  /// Sets the number of bytes of intermediates that are all to be zeroized.
  void use_secret(size_t bytes) { workspace_bytes = secret_bytes = bytes; }
  /// Returns the array of public intermediates behind `secrets` bytes of others: `bytes` bytes for each of `items`.
  template <class T>
  T* take_public(std::byte* workspace, size_t secrets, size_t items, size_t bytes) {
    DeviceArena arena(workspace + secrets, items);
    T* const array = arena.take<T>(bytes);
    secret_bytes = secrets, workspace_bytes = secrets + arena.used();
    return array;
  }
};

}  // namespace polykem::cuda
