// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "cpu/cpu_job.hpp"
#include "text.hpp"

namespace polykem::lab {

Progress::Progress(size_t planned, bool silent)
    : planned_(planned), silent_(silent), terminal_(isatty(STDERR_FILENO) != 0), begun_(now()) {}

/// The remaining time is estimated from the mean time of the figures so far.
void Progress::show(const std::string& what) {
  ++shown_;
  if (silent_ || (!terminal_ && shown_ % 25 != 0)) return;
  const double passed = now() - begun_;
  const double left = passed / static_cast<double>(shown_) * static_cast<double>(planned_ - shown_);
  const std::string of = planned_ == 0 ? "" : " of " + std::to_string(planned_);
  const std::string to_come = planned_ == 0 ? "" : ", some " + format("%.0f", left) + " s left";
  std::fprintf(stderr, "%s%zu%s figures, %.0f s%s: %s%s", terminal_ ? "\r\033[K" : "", shown_, of.c_str(), passed,
               to_come.c_str(), what.c_str(), terminal_ ? "" : "\n");
}

void Progress::end() const {
  if (!silent_ && terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace polykem::lab
