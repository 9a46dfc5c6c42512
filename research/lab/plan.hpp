// SPDX-License-Identifier: Apache-2.0
// What a run will do, in order, before it does anything: which batches, and which ways over each.
#pragma once

#include "lab.hpp"

namespace polykem::lab {

/// Which batches of a problem are measured. All are compared with the schoolbook's.
enum class Extent {
  kEvery,
  kLargest,  ///< that of each device
  kAxis,     ///< the largest one, on a GPU only
};

struct Subject {
  Problem problem;
  Extent extent = Extent::kEvery;
};

/// Empty lists select the defaults.
struct Request {
  std::vector<Subject> subjects;
  std::vector<std::string> ways, on;
  std::vector<Sharing> sharing;
  std::vector<size_t> items;  ///< all of them are measured, whatever the extent
  double seconds = 0.1;       ///< that a figure is measured for
  bool check_only = false;
};

struct Trial {
  const Way* way;
  bool figure;  ///< it makes a row; otherwise the products are compared and that is all
};

/// A batch and who multiplies it.
struct Step {
  const Problem* problem;
  Sharing sharing;
  size_t items;
  bool extreme;  ///< see Operands
  std::vector<Trial> trials;
};

/// The steps point into the request and the ways.
std::vector<Step> plan(const Request& request, const std::vector<const Way*>& ways);
size_t count_figures(const std::vector<Step>& steps);

bool is_cuda(const Way& way);

}  // namespace polykem::lab
