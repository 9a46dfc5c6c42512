// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckks.hpp"

namespace polykem::ckks::lab {

/// The results, and the machine. `rates` has the rates of the devices in the rows: "cpu", "cuda".
struct Results {
  std::string command, cpu, gpu, no_gpu;  ///< gpu: empty if there is none; no_gpu then says why
  bool complete = false;                  ///< the run was not interrupted
  size_t compared = 0;
  std::map<std::string, Rates> rates;
  std::vector<Row> rows;
};

std::string as_table(const Results& results);
std::string as_json(const Results& results);

}  // namespace polykem::ckks::lab
