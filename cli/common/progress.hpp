// SPDX-License-Identifier: Apache-2.0
// Progress of long commands on stderr: a live bar on a terminal that takes escape codes, otherwise a line every few
// seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace polykem::cli {

/// One progress display. Use it from one thread.
class Progress {
 public:
  enum class Rate { kShown, kHidden };

  /// quiet: print nothing. total: the number of items that makes 100 %; 0: unknown, so no percentage is shown. unit:
  /// what is counted, for example "clients". rate: show items per second.
  Progress(std::string label, std::uint64_t total, std::string unit, bool quiet, Rate rate = Rate::kShown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows that `done` items are finished, with `note` after the figures. Cheap to call often.
  void update(std::uint64_t done, const std::string& note = {});
  /// Removes the bar from the terminal, as the destructor does.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::uint64_t done, const std::string& note, double elapsed) const;

  std::string label_;
  std::uint64_t total_;
  std::string unit_;
  bool quiet_;
  Rate rate_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace polykem::cli
