// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace polykem::lab {

/// How far a run is, on standard error: one line that the next one overwrites, on a terminal.
class Progress {
 public:
  /// planned: 0 where it is not known
  Progress(size_t planned, bool silent);
  /// One more figure, that of `what`.
  void show(const std::string& what);
  void end() const;

 private:
  size_t planned_, shown_ = 0;
  bool silent_, terminal_;
  double begun_;
};

}  // namespace polykem::lab
