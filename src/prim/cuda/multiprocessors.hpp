// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace polykem::cuda {

/// The number of multiprocessors of an H200 and of an H100 SXM, on which the sizes of parts were measured. The module
/// scales these sizes in proportion on a device that has more or fewer.
inline constexpr size_t kMeasuredMultiprocessors = 132;

}  // namespace polykem::cuda
