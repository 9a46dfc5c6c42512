// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckks.hpp"

namespace polykem::ckks::lab {

/// What was measured, and where. `rates` has those of the devices that rows are of: "cpu", "cuda".
struct Results {
  std::string command, cpu, gpu, no_gpu;  ///< gpu: empty where there is none, and then no_gpu says why
  bool complete = false;                  ///< it was not interrupted
  size_t compared = 0;
  std::map<std::string, Rates> rates;
  std::vector<Row> rows;
};

std::string as_table(const Results& results);
std::string as_json(const Results& results);

}  // namespace polykem::ckks::lab
