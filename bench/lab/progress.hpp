// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure.hpp"

namespace polykem::lab {

/// How far a run is, on standard error: one line that the next one overwrites, on a terminal.
class Progress {
 public:
  Progress(size_t planned, bool silent);
  void show(const Row& row);
  void end() const;

 private:
  size_t planned_, shown_ = 0;
  bool silent_, terminal_;
  double begun_;
};

}  // namespace polykem::lab
