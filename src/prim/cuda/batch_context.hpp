// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device.hpp"
#include "prim/cuda/launcher.hpp"

namespace polykem::cuda {

/// The records and the stream of one batch, on which its launches work. A scheme's context adds the intermediates.
struct BatchContext {
  BatchContext(const DeviceBatch& batch, cudaStream_t stream) : io(batch), to{stream} {}

  size_t count() const { return io.count; }
  /// Returns how many keys the items have: one if they share it.
  size_t keys() const { return io.shared_key ? 1 : io.count; }

  const DeviceBatch& io;
  Launcher to;
  size_t workspace_bytes = 0;  ///< how many the intermediates take
};

}  // namespace polykem::cuda
