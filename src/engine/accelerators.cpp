// SPDX-License-Identifier: Apache-2.0
#include "engine/accelerator.hpp"
#include "engine/cuda/accelerator.hpp"
#include "engine/rtl/accelerator.hpp"

namespace polykem {

Accelerator::Accelerator(const BackendDescription& description, const char* crossover_file, size_t guess)
    : description_(description), crossovers_(*this, crossover_file, guess) {}

std::span<Accelerator* const> accelerators() {
  static Accelerator* const all[] = {&cuda::accelerator(), &rtl::accelerator()};
  return all;
}

}  // namespace polykem
