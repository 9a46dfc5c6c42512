// SPDX-License-Identifier: Apache-2.0
// Cleans up on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU: no temporary file and no part of a group of outputs is
// left.
#pragma once

#include <termios.h>

#include <string>

namespace polykem::cli {

/** Handles those of the signals that would end the program; signals that are ignored or have a handler stay as they
 * are. From then on they remove the files below before they end the program. */
void handle_signals();

/** A file that a signal removes. */
void remove_on_signal(const std::string& path);
/** Undoes that; does nothing if the file was not registered. */
void keep_on_signal(const std::string& path);

/** A signal gives the terminal `fd` these settings before it ends the program. One terminal at a time. */
void restore_on_signal(int fd, const struct termios& settings);
/** Undoes that. */
void keep_terminal();

/** While an object exists, signals wait, on whatever thread they come; afterwards they end the program. If a signal is
 * ending it already, the constructor does not return. One thread at a time changes files. */
class DeferSignals {
 public:
  DeferSignals();
  ~DeferSignals();
  DeferSignals(const DeferSignals&) = delete;
  DeferSignals& operator=(const DeferSignals&) = delete;
};

}  // namespace polykem::cli
