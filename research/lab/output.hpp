// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure.hpp"

namespace polykem::lab {

/// The results, and the machine.
struct Results {
  std::string command;
  std::vector<Row> rows;
  size_t planned = 0;     ///< rows of the whole run
  bool complete = false;  ///< the run was not interrupted
  size_t compared = 0;
  Rates gpu_rates;
};

std::string as_table(const Results& results);
std::string as_json(const Results& results, const Laboratory& laboratory);
std::string as_list(const Laboratory& laboratory);

}  // namespace polykem::lab
