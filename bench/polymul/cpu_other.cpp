// SPDX-License-Identifier: Apache-2.0
#include "polymul.hpp"

namespace polykem::bench {

PolymulReport polymul_on_cpu(const PolymulRequest&, const PolymulProgress&) {
  PolymulReport report;
  report.time_unit = "cycles";
  report.problem = "the products of this kind of CPU have no benchmark, those of x86-64 do";
  return report;
}

}  // namespace polykem::bench
