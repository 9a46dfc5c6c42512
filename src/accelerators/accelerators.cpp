// SPDX-License-Identifier: Apache-2.0
// The only list of accelerators.
#include "accelerators/cuda/accelerator.hpp"
#include "accelerators/rtl/accelerator.hpp"
#include "engine/accelerator.hpp"

namespace polykem {

std::span<Accelerator* const> accelerators() {
  static Accelerator* const all[] = {&cuda::accelerator(), &rtl::accelerator()};
  return all;
}

Accelerator& gpu_accelerator() {
  return cuda::accelerator();
}

}  // namespace polykem
