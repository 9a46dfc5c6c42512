// SPDX-License-Identifier: Apache-2.0
#include "common/signals.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <vector>

#include "common/streams.hpp"

namespace polykem::cli {
namespace {

constexpr std::array<int, 5> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

// The owners of `paths`: nobody (0); threads that defer signals, with their number and the signal that arrived
// meanwhile; or the handler that ends the program. One word, so that a signal on any thread sees a consistent state.
constexpr unsigned kDeferring = 1, kDeferringMask = 0xffff, kSignalShift = 16;
constexpr unsigned kEnding = 1U << 31;
std::atomic<unsigned> state{0};

std::atomic<OutputState> output_state{OutputState::kNone};
static_assert(std::atomic<OutputState>::is_always_lock_free, "a handler reads it");

// Never destroyed, since a signal may come while the program ends.
std::vector<std::string>& paths() {
  static auto& all = *new std::vector<std::string>;
  return all;
}

// Like `paths`, these belong to the threads that defer signals or to the handler.
int terminal = -1;
struct termios terminal_settings {};

// The state is kEnding, so no other thread touches the paths. The kernel discards a signal with the default action that
// the first process of a PID namespace sends to itself; such a process exits as a shell reports the signal.
[[noreturn]] void terminate_by(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);  // to this thread, so that it arrives before the next line
  ::_exit(128 + signal);
}

// May run in a signal handler, so only calls that are safe there are allowed.
void write_error(const char* text) {
  print_error_text(text, std::strlen(text));
}

void report_output_state(int signal) {
  const OutputState now = output_state.load();
  if (now == OutputState::kNotReported) return;
  // On a new line, since the terminal may show ^C or the progress on this one.
  write_error(::isatty(STDERR_FILENO) == 1 ? "\npolykem: interrupted by " : "polykem: interrupted by ");
  write_error(signal_name(signal));
  write_error(now == OutputState::kNone      ? ": no output file was written\n"
              : now == OutputState::kPartial ? ": no output file was written, and other output is incomplete\n"
                                             : ": all output was written\n");
}

[[noreturn]] void clean_up_and_end(int signal) {
  for (const std::string& path : paths())
    ::unlink(path.c_str());
  if (terminal >= 0) ::tcsetattr(terminal, TCSAFLUSH, &terminal_settings);
  report_output_state(signal);
  terminate_by(signal);
}

extern "C" void polykem_cli_on_signal(int signal) {
  unsigned seen = state.load();
  while ((seen & kEnding) == 0) {
    const bool deferred = (seen & kDeferringMask) != 0;
    const unsigned next = deferred ? (seen & kDeferringMask) | static_cast<unsigned>(signal) << kSignalShift : kEnding;
    if (!state.compare_exchange_weak(seen, next)) continue;
    if (!deferred) clean_up_and_end(signal);
    return;
  }
}

}  // namespace

void handle_signals() {
  paths();  // created before a handler uses it
  for (const int signal : kSignals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = polykem_cli_on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

void set_output_state(OutputState state) {
  output_state = state;
}

const char* signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    case SIGQUIT:
      return "SIGQUIT";
    case SIGXCPU:
      return "SIGXCPU";
    default:
      return "a signal";
  }
}

void end_by_signal(int signal) {
  terminate_by(signal);
}

void remove_on_signal(const std::string& path) {
  const DeferSignals while_changing;
  paths().push_back(path);
}

void keep_on_signal(const std::string& path) {
  const DeferSignals while_changing;
  std::erase(paths(), path);
}

void restore_on_signal(int fd, const struct termios& settings) {
  const DeferSignals while_changing;
  terminal = fd;
  terminal_settings = settings;
}

void keep_terminal() {
  const DeferSignals while_changing;
  terminal = -1;
}

DeferSignals::DeferSignals() {
  unsigned seen = state.load();
  do {
    while ((seen & kEnding) != 0) {  // another thread's handler ends the program
      ::pause();
      seen = state.load();
    }
  } while (!state.compare_exchange_weak(seen, seen + kDeferring));
}

DeferSignals::~DeferSignals() {
  unsigned seen = state.load();
  unsigned next = 0;
  do {
    const bool last = (seen & kDeferringMask) == kDeferring;
    next = !last ? seen - kDeferring : (seen >> kSignalShift) != 0 ? kEnding : 0;
  } while (!state.compare_exchange_weak(seen, next));
  if (next == kEnding) clean_up_and_end(static_cast<int>(seen >> kSignalShift));
}

}  // namespace polykem::cli
