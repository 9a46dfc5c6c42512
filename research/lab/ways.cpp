// SPDX-License-Identifier: Apache-2.0
// The table of ways. The program and the GPU's module each have one.
#include <algorithm>
#include <cstring>

#include "lab.hpp"

namespace polykem::lab {

namespace {

std::vector<Way>& table() {
  static std::vector<Way> ways;
  return ways;
}

}  // namespace

Registration::Registration(std::vector<Way> ways) {
  table().insert(table().end(), ways.begin(), ways.end());
}

const std::vector<Way>& registered_ways() {
  std::stable_sort(table().begin(), table().end(),
                   [](const Way& x, const Way& y) { return std::strcmp(x.name, y.name) < 0; });
  return table();
}

}  // namespace polykem::lab
