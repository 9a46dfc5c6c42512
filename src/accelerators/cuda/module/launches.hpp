// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/device.hpp"

namespace polykem::cuda {

/// Calls launch(step, tile) for the steps [first, end) in their order. Neighbouring tiled steps are repeated as a
/// group.
template <class Launch>
void for_each_launch(const DeviceOperation& operation, const DeviceBatch& batch, size_t first, size_t end,
                     Launch&& launch) {
  for (size_t begin = first; begin < end;) {
    size_t group_end = begin + 1;
    const bool tiled = operation.steps[begin].info.tiled;
    while (tiled && group_end < end && operation.steps[group_end].info.tiled)
      ++group_end;
    const size_t tiles = tiled ? operation.tiles(batch) : 1;
    for (size_t tile = 0; tile < tiles; ++tile) {
      for (size_t step = begin; step < group_end; ++step)
        launch(step, tile);
    }
    begin = group_end;
  }
}

}  // namespace polykem::cuda
