// SPDX-License-Identifier: Apache-2.0
// The limit on the size of a grid. The host's tests compile this without CUDA.
#pragma once

#include <cstddef>

namespace polykem::cuda {

/// The largest number of blocks in x that every supported GPU allows in a grid. All our grids are one-dimensional.
inline constexpr size_t kMaxBlocks = 0x7fffffff;

/// Returns the number of blocks of a grid in which each block computes `per_block` items.
constexpr size_t blocks_for(size_t items, size_t per_block) {
  return items / per_block + (items % per_block != 0);
}

}  // namespace polykem::cuda
