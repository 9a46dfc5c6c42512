// SPDX-License-Identifier: Apache-2.0
// Cleans up on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU, and says so: no temporary file and no part of a group of
// outputs is left.
#pragma once

#include <termios.h>

#include <string>

namespace polykem::cli {

/// Handles those of the signals that would end the program; signals that are ignored or have a handler stay as they
/// are. From then on they remove the files below, say in a line on standard error what is left, and end the program.
void handle_signals();

/// What a command has left if a signal ends it now.
enum class Left {
  kNoFile,      ///< the state at the beginning
  kPart,        ///< standard output, a pipe or a device has a part
  kAll,         ///< the outputs are complete
  kNothingDue,  ///< the command has no end of its own, and the signal is nothing to speak of
};

/// From now on.
void left_on_signal(Left left);

/// "SIGINT".
const char* signal_name(int signal);

/// Ends the program by that signal, as if it had not been handled: callers see that the work was interrupted. Removes
/// no files.
[[noreturn]] void end_by_signal(int signal);

/// A file that a signal removes.
void remove_on_signal(const std::string& path);
/// Undoes that; does nothing if the file was not registered.
void keep_on_signal(const std::string& path);

/// A signal gives the terminal `fd` these settings before it ends the program. One terminal at a time.
void restore_on_signal(int fd, const struct termios& settings);
/// Undoes that.
void keep_terminal();

/// While an object exists, signals wait, on whatever thread they come; afterwards they end the program. If a signal is
/// ending it already, the constructor does not return. One thread at a time changes files.
class DeferSignals {
 public:
  DeferSignals();
  ~DeferSignals();
  DeferSignals(const DeferSignals&) = delete;
  DeferSignals& operator=(const DeferSignals&) = delete;
};

}  // namespace polykem::cli
