// SPDX-License-Identifier: Apache-2.0
#include "net/watch.hpp"

#include <fmt/format.h>

#include <csignal>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/signals.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"

namespace polykem::cli::net {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);

bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Watch::Watch(asio::io_context& loop, Signals signals, std::function<void()> on_tick, std::function<void()> interrupted)
    : timer_(loop),
      signals_(loop, SIGTERM),
      from_people_(signals == Signals::kFromPeople),
      on_tick_(std::move(on_tick)),
      interrupted_(std::move(interrupted)) {
  if (from_people_) {
    signals_.add(SIGINT);
    if (!is_ignored(SIGHUP)) signals_.add(SIGHUP);
  }
  tick();
  wait_for_signal();
}

Watch::~Watch() {
  asio::error_code ignored;
  signals_.clear(ignored);
  if (from_people_) handle_signals();
}

/// A timer that has fired can no longer be cancelled, so its handler must check whether the watch has stopped.
void Watch::stop() {
  stopped_ = true;
  timer_.cancel();
  asio::error_code ignored;
  signals_.cancel(ignored);
}

void Watch::tick() {
  timer_.expires_after(kInterval);
  timer_.async_wait([this](const asio::error_code& error) {
    ticking_ = false;
    if (error || stopped_) return;
    on_tick_();
    tick();
  });
  ticking_ = true;
}

void Watch::resume() {
  if (!ticking_ && !stopped_) tick();
}

void Watch::wait_for_signal() {
  signals_.async_wait([this](const asio::error_code& error, int number) {
    if (error || stopped_) return;
    signal_ = number;
    asio::error_code ignored;
    signals_.clear(ignored);  // default handling again: the next signal ends the process
    interrupted_();
  });
}

std::vector<StepTime> read_steps(const Context& context) {
  std::vector<StepTime> out;
  for (const polykem_step_record& record : context.profile_records()) {
    out.push_back({op_name(record.op), record.step, record.stages, record.calls, record.items, record.nanoseconds});
  }
  return out;
}

int interrupted(int signal, std::uint64_t done, std::uint64_t total) {
  print_error("polykem: interrupted by {}: {} of {} clients had agreed\n", signal_name(signal), with_commas(done),
              with_commas(total));
  return kExitSignal + signal;
}

std::string failure_note(const OutcomeCounts& outcomes) {
  return outcomes.failed() == 0 ? std::string() : fmt::format("{} failed", with_commas(outcomes.failed()));
}

}  // namespace polykem::cli::net
