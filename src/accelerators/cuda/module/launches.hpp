// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/device.hpp"

namespace polykem::cuda {

/// Calls launch(step, tile) for the steps [first, end) in order, and repeats each group of tiled steps once
/// for each tile.
template <class Launch>
void for_each_launch(const DeviceOperation& operation, const DeviceBatch& batch, size_t first, size_t end,
                     Launch&& launch) {
  const auto steps = operation.steps.first(end);
  for (size_t begin = first; begin < end;) {
    const size_t next = group_end(steps, begin);
    const size_t tiles = steps[begin].info.tiled ? operation.tiles(batch) : 1;
    for (size_t tile = 0; tile < tiles; ++tile) {
      for (size_t step = begin; step < next; ++step)
        launch(step, tile);
    }
    begin = next;
  }
}

}  // namespace polykem::cuda
