// SPDX-License-Identifier: Apache-2.0
#include "common/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common/streams.hpp"
#include "common/table.hpp"
#include "common/terminal.hpp"

namespace polykem::cli {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kPlainInterval = std::chrono::seconds(5);
constexpr unsigned kBarCells = 24;

std::string bar(double part) {
  const auto full = static_cast<unsigned>(part * kBarCells);
  std::string out;
  for (unsigned i = 0; i < kBarCells; ++i)
    out += i < full ? "━" : "─";
  return out;
}

}  // namespace

Progress::Progress(std::string label, std::uint64_t total, std::string unit, bool quiet, Rate rate)
    : label_(std::move(label)),
      total_(total),
      unit_(std::move(unit)),
      quiet_(quiet),
      rate_(rate),
      terminal_(takes_escape_codes(STDERR_FILENO)),
      start_(Clock::now()) {
  next_ = terminal_ ? start_ + kTerminalInterval : start_ + kPlainInterval;
}

Progress::~Progress() {
  finish();
}

void Progress::update(std::uint64_t done, const std::string& note) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = terminal_ ? now + kTerminalInterval : now + kPlainInterval;
  draw(total_ > 0 ? std::min(done, total_) : done, note, std::chrono::duration<double>(now - start_).count());
  drawn_ = true;
}

void Progress::draw(std::uint64_t done, const std::string& note, double elapsed) const {
  const bool known = total_ > 0;
  const double part = known ? static_cast<double>(done) / static_cast<double>(total_) : 0;
  std::string figures = known ? fmt::format("{} of {} {}", with_commas(done), with_commas(total_), unit_)
                              : fmt::format("{} {}", with_commas(done), unit_);
  if (rate_ == Rate::kShown) {
    figures += fmt::format(", {} {}/s", significant(static_cast<double>(done) / std::max(elapsed, 1e-9)), unit_);
  }
  if (!note.empty()) figures += fmt::format(", {}", note);
  if (!terminal_) {
    print_error("{}: {}{}\n", label_, known ? fmt::format("{:.0f} %, ", part * 100) : "", figures);
  } else if (known) {
    print_error("\r\x1b[K{}  {}  {:3.0f} %  {}", label_, bar(part), part * 100, figures);
  } else {
    print_error("\r\x1b[K{}  {}", label_, figures);
  }
}

void Progress::finish() {
  if (drawn_ && terminal_) {
    print_error("\r\x1b[K");
  }
  drawn_ = false;
}

}  // namespace polykem::cli
