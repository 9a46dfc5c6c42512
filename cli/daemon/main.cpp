// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "commands.hpp"
#include "common/exit_codes.hpp"
#include "common/streams.hpp"
#include "daemon/systemd.hpp"

int main(int argc, char** argv) {
  polykem::cli::open_standard_streams();
  // A closed pipe or a full disk under the log must not stop the daemon.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  polykem::cli::report_as("polykemd");
  return polykem::cli::run_guarded([&] {
    // What ends the start is an error in the journal, too.
    if (polykem::cli::logs_to_journal()) polykem::cli::report_as("<3>polykemd");
    return polykem::cli::run_polykemd(argc, argv);
  });
}
