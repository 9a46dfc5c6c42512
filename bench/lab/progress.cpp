// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "cpu/cpu_job.hpp"

namespace polykem::lab {

Progress::Progress(size_t planned, bool silent)
    : planned_(planned), silent_(silent), terminal_(isatty(STDERR_FILENO) != 0), begun_(now()) {}

/// The time left is that of the figures so far, for those to come.
void Progress::show(const Row& row) {
  ++shown_;
  if (silent_ || (!terminal_ && shown_ % 25 != 0)) return;
  const double passed = now() - begun_;
  const double left = passed / static_cast<double>(shown_) * static_cast<double>(planned_ - shown_);
  std::fprintf(stderr, "%s%zu of %zu figures, %.0f s, some %.0f s left: %s %s on %s, %zu items%s",
               terminal_ ? "\r\033[K" : "", shown_, planned_, passed, left, row.problem->name.c_str(), row.way->name,
               row.way->on, row.items, terminal_ ? "" : "\n");
}

void Progress::end() const {
  if (!silent_ && terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace polykem::lab
