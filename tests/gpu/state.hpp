// SPDX-License-Identifier: Apache-2.0
// What the library says of the GPU below its C API, apart from the headers of that API, whose C++ names are the same.
#pragma once

#include <cstddef>
#include <string>

namespace polykem::gpu_test {

/// Why there is no GPU to use; empty if there is one.
std::string why_no_gpu();

/// Chunks that the CPU computed because the GPU failed.
size_t fallbacks();

}  // namespace polykem::gpu_test
