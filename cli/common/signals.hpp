// SPDX-License-Identifier: Apache-2.0
// Cleans up on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU: no temporary file and no part of a group of outputs is
// left.
#pragma once

#include <termios.h>

#include <string>

namespace polykem::cli {

/// Installs handlers for those of the signals that would end the program; signals that are ignored or have a handler
/// are left alone. The handlers remove registered files, report the state of the output in one line on standard error,
/// and end the program.
void handle_signals();

/// The state of a command's output, which a handler reports.
enum class OutputState {
  kNone,         ///< no file was written; the state at the beginning
  kPartial,      ///< standard output, a pipe or a device has received a part
  kComplete,     ///< the outputs are complete
  kNotReported,  ///< the command runs until a signal ends it, which is no failure
};

void set_output_state(OutputState state);

/// The signal's name, for example "SIGINT".
const char* signal_name(int signal);

/// Ends the program by that signal, as if it had not been handled, so that callers see the interruption. Removes no
/// files.
[[noreturn]] void end_by_signal(int signal);

/// Registers a file that a signal must remove.
void remove_on_signal(const std::string& path);
/// Unregisters the file, if it was registered.
void keep_on_signal(const std::string& path);

/// Registers settings that a signal restores on the terminal `fd`. One terminal at a time.
void restore_on_signal(int fd, const struct termios& settings);
/// Unregisters them.
void keep_terminal();

/// While an object exists, signals on any thread are deferred; afterwards they end the program. If a signal is already
/// ending it, the constructor does not return. One thread at a time may change the registered files.
class DeferSignals {
 public:
  DeferSignals();
  ~DeferSignals();
  DeferSignals(const DeferSignals&) = delete;
  DeferSignals& operator=(const DeferSignals&) = delete;
};

}  // namespace polykem::cli
