// SPDX-License-Identifier: Apache-2.0
// Runs methods over problems. Every product of every batch is compared with schoolbook multiplication before it is
// timed.
#pragma once

#include <functional>
#include <stdexcept>

#include "operand_generator.hpp"
#include "plan.hpp"

namespace polykem::lab {

struct Row {
  const Problem* problem;
  const Method* method;
  Sharing sharing;
  size_t items;
  double seconds = 0, floor = 0;  ///< of one product; floor is 0 if none is stated
  double cycles = 0;              ///< of a CPU core, for one product; 0: not known
  Resources resources = {};
};

/// A wrong product, which what() names.
struct WrongProduct : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The devices and methods of this machine.
class Laboratory {
 public:
  Laboratory();
  /// All methods that can run here.
  const std::vector<const Method*>& methods() const { return methods_; }
  /// The GPU's name, or ""; the reason if there is none.
  const std::string& gpu() const { return gpu_; }
  const std::string& no_gpu() const { return no_gpu_; }

  /// Calls `done` for each row. With a budget of 0 seconds nothing is timed. Throws WrongProduct.
  void measure(const Step& step, double budget, const std::function<void(const Row&)>& done);
  /// Returns the number of products so far.
  size_t compared() const { return compared_; }
  Rates gpu_rates();

 private:
  const Rates& rates_of(const Method& method);
  Row measure_job(const Step& step, const Method& method, Job& job, double budget);

  std::string gpu_, no_gpu_;
  Device* device_;
  std::vector<const Method*> methods_;
  Rates gpu_rates_, cpu_rates_;
  OperandGenerator generator_;
  Storage<uint16_t> want_, got_;
  size_t compared_ = 0;
};

const char* sharing_name(Sharing sharing);

}  // namespace polykem::lab
