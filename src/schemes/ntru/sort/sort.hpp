// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// Sorts `count` signed 32-bit integers into ascending order, in place and in constant time, by Batcher's merge
/// exchange: the sequence of compared positions depends on `count` alone. [KNUTH3, 5.2.2, Alg. M]
void sort_int32(int32_t* values, size_t count);

/// The number of integers behind the values that some implementations overwrite.
inline constexpr size_t kSortRoom = 12;

}  // namespace polykem
