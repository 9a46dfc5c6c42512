// SPDX-License-Identifier: Apache-2.0
// Runs the system of soc.py and prints what its UART sends, until a byte of 4 (EOT). Returns 0 if a line says "passed".
#include <Vpolykem_soc.h>
#include <verilated.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  constexpr unsigned kMaxCycles = 3'000'000;
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vpolykem_soc top(&context);
  top.serial_source_ready = 1;
  top.serial_sink_valid = 0;
  std::string said;
  for (unsigned cycle = 0; cycle < kMaxCycles; cycle++) {
    top.clock = 0;
    top.eval();
    if (top.serial_source_valid) {
      if (top.serial_source_data == 4) {
        std::printf("%u cycles of the system\n", cycle);
        return said.find("\npassed\n") != std::string::npos ? 0 : 1;
      }
      said += static_cast<char>(top.serial_source_data);
      std::putchar(said.back());
    }
    top.clock = 1;
    top.eval();
  }
  std::printf("the firmware did not end within %u cycles\n", kMaxCycles);
  return 1;
}
