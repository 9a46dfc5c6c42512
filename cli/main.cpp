// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "commands.hpp"
#include "common/exit_codes.hpp"
#include "common/signals.hpp"
#include "common/streams.hpp"

int main(int argc, char** argv) {
  polykem::cli::open_standard_streams();
  // A closed pipe or a file larger than allowed is an output error with an exit code; no signal ends the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const int code = polykem::cli::run_guarded([&] { return polykem::cli::run_polykem(argc, argv); });
  if (code > polykem::cli::kExitSignal) polykem::cli::end_by_signal(code - polykem::cli::kExitSignal);
  return code;
}
