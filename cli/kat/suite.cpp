// SPDX-License-Identifier: Apache-2.0
#include "kat/suite.hpp"

#include "common/context.hpp"

namespace polykem::cli {

void Suite::add_case(const std::string& name, std::vector<Check> of_case) {
  for (Check& check : of_case) {
    check.number = cases;
    check.label = name + ", " + (check.label.empty() ? op_name(check.op) : check.label);
    checks.push_back(std::move(check));
  }
  ++cases;
}

Suite& suite_for(std::vector<Suite>& suites, const std::string& scheme) {
  for (Suite& suite : suites) {
    if (suite.scheme == scheme) return suite;
  }
  suites.emplace_back();
  suites.back().scheme = scheme;
  return suites.back();
}

}  // namespace polykem::cli
