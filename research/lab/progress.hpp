// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace polykem::lab {

/// Shows the progress of a run on standard error; on a terminal, each line overwrites the last one.
class Progress {
 public:
  /// planned: the number of figures; 0 if unknown
  Progress(size_t planned, bool silent);
  /// Counts one more figure, that of `what`.
  void show(const std::string& what);
  void end() const;

 private:
  size_t planned_, shown_ = 0;
  bool silent_, terminal_;
  double begun_;
};

}  // namespace polykem::lab
