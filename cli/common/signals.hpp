// SPDX-License-Identifier: Apache-2.0
// What SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU leave behind: no temporary file, and no half of a group of outputs.
#pragma once

#include <string>

namespace polykem::cli {

/** Takes over those of the signals that would end the program; ignored ones and those with a handler stay as they are.
 * From then on they remove the files below before they end the program. */
void handle_signals();

/** A file that a signal removes. At most 16 at a time; throws std::length_error beyond. */
void remove_on_signal(const std::string& path);
/** Takes it back; nothing happens if it was not registered. */
void keep_on_signal(const std::string& path);

/** While it lives, the signals wait; then they end the program. */
class DeferSignals {
 public:
  DeferSignals();
  ~DeferSignals();
  DeferSignals(const DeferSignals&) = delete;
  DeferSignals& operator=(const DeferSignals&) = delete;
};

}  // namespace polykem::cli
