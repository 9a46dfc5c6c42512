// SPDX-License-Identifier: Apache-2.0
// Runs in the loop beside the handshakes: a periodic callback, and signals.
#pragma once

#include <cstdint>
#include <functional>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <polykem/polykem.hpp>

#include "net/stats.hpp"

namespace polykem::cli::net {

/// The signals that end a process.
enum class Signals {
  kFromPeople,  ///< SIGINT, SIGTERM, and SIGHUP unless it was ignored when the program started (nohup)
  kFromParent   ///< SIGTERM only: signals that a terminal sends to the whole group are for the parent
};

/// Calls `on_tick` ten times a second until it is stopped, and `interrupted` on the first signal that asks the process
/// to end. A second one ends it at once.
class Watch {
 public:
  Watch(asio::io_context& loop, Signals signals, std::function<void()> on_tick, std::function<void()> interrupted);
  /// From now on signals end the process again, with a message unless its parent reports for it.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /// The signal that was received, or 0.
  int signal() const { return signal_; }
  /// Lets the loop end.
  void stop();
  /// Continues after a handler of the loop has thrown std::bad_alloc.
  void resume();

 private:
  void tick();
  void wait_for_signal();

  asio::steady_timer timer_;
  asio::signal_set signals_;
  bool from_people_;
  std::function<void()> on_tick_;
  std::function<void()> interrupted_;
  bool stopped_ = false;
  bool ticking_ = false;
  int signal_ = 0;
};

/// Prints that `signal` ended the work after `done` of `total` clients had agreed. Returns the exit code.
int interrupted(int signal, std::uint64_t done, std::uint64_t total);

/// The recorded steps of `context`, in plan order.
std::vector<StepTime> read_steps(const Context& context);

/// The number of failures for the progress line: "13 failed", or "".
std::string failure_note(const OutcomeCounts& outcomes);

}  // namespace polykem::cli::net
