// SPDX-License-Identifier: Apache-2.0
// The plan of a run, in order: its batches, and the methods that multiply each.
#pragma once

#include "lab.hpp"

namespace polykem::lab {

/// The batches of a problem that are measured. All are compared with schoolbook multiplication.
enum class Extent {
  kEvery,
  kLargest,  ///< the largest batch of each device
  kAxis,     ///< the largest batch, only on a GPU
};

struct Subject {
  Problem problem;
  Extent extent = Extent::kEvery;
};

/// Empty lists select the defaults.
struct Request {
  std::vector<Subject> subjects;
  std::vector<std::string> methods, on;
  std::vector<Sharing> sharing;
  std::vector<size_t> items;  ///< all of these are measured, whatever the extent
  double seconds = 0.1;       ///< seconds for each figure
  bool check_only = false;
};

struct Trial {
  const Method* method;
  bool figure;  ///< it becomes a row; otherwise products are only compared
};

/// A batch, and the methods that multiply it.
struct Step {
  const Problem* problem;
  Sharing sharing;
  size_t items;
  bool extreme;  ///< see OperandGenerator
  std::vector<Trial> trials;
};

/// Steps point into the request and the methods.
std::vector<Step> plan(const Request& request, const std::vector<const Method*>& methods);
size_t count_figures(const std::vector<Step>& steps);

bool is_cuda(const Method& method);

}  // namespace polykem::lab
