// SPDX-License-Identifier: Apache-2.0
// The table of methods. The program and the GPU's module each have one.
#include <algorithm>
#include <cstring>

#include "lab.hpp"

namespace polykem::lab {

namespace {

std::vector<Method>& table() {
  static std::vector<Method> methods;
  return methods;
}

}  // namespace

Registration::Registration(std::vector<Method> methods) {
  table().insert(table().end(), methods.begin(), methods.end());
}

const std::vector<Method>& registered_methods() {
  std::stable_sort(table().begin(), table().end(),
                   [](const Method& x, const Method& y) { return std::strcmp(x.name, y.name) < 0; });
  return table();
}

}  // namespace polykem::lab
