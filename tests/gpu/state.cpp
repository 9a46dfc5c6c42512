// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include "accelerators/cuda/loader.hpp"
#include "engine/job.hpp"

namespace polykem::test {

std::string why_no_gpu() {
  const auto& module = cuda::loaded_module();
  return module.table != nullptr ? std::string() : module.problem;
}

size_t fallbacks() {
  return chunk_fallbacks();
}

}  // namespace polykem::test
