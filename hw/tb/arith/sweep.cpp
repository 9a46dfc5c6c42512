// SPDX-License-Identifier: Apache-2.0
// Runs sweep.sv to its end.
#include <cstdio>

#include "Vsweep.h"

int main() {
  Vsweep sweep;
  while (!sweep.done_o) {
    sweep.clk_i = 0;
    sweep.eval();
    sweep.clk_i = 1;
    sweep.eval();
  }
  if (sweep.wrong_o) std::puts("a residue is wrong");
  return sweep.wrong_o;
}
