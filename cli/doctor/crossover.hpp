// SPDX-License-Identifier: Apache-2.0
// Shows the crossovers, the batch sizes from which batches go to the GPU, and measures them on request.
#pragma once

#include <polykem/polykem.hpp>

#include <array>
#include <cstddef>
#include <vector>

#include "common/json_out.hpp"

namespace polykem::cli {

struct Crossover {
  Scheme scheme;
  std::array<std::size_t, 3> items;  ///< of keygen, encaps or sign, decaps or verify; SIZE_MAX: never
  bool measured;
};

/// The crossovers of the sets that can run on a GPU here; empty if there is no GPU.
std::vector<Crossover> crossovers();

/// Measures the crossovers of all such sets. Throws CliError if there is no GPU.
void tune_crossovers(bool silent);

void print_crossovers(const std::vector<Crossover>& all);
Json crossovers_as_json(const std::vector<Crossover>& all);

}  // namespace polykem::cli
