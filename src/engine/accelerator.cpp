// SPDX-License-Identifier: Apache-2.0
#include "engine/accelerator.hpp"

namespace polykem {

Accelerator::Accelerator(const BackendDescription& description, const char* crossover_file, size_t guess)
    : description_(description), crossovers_(*this, crossover_file, guess) {}

}  // namespace polykem
