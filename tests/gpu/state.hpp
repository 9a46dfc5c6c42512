// SPDX-License-Identifier: Apache-2.0
// The library's view of the GPU, below the C API. It does not include that API's headers, which have the same C++
// names.
#pragma once

#include <cstddef>
#include <string>

namespace polykem::test {

/// Returns why there is no usable GPU; empty if there is one.
std::string why_no_gpu();

/// Returns the number of chunks that the CPU computed because the GPU failed.
size_t fallbacks();

}  // namespace polykem::test
