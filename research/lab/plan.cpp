// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace polykem::lab {

namespace {

bool wanted(const std::vector<std::string>& list, const char* name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

constexpr size_t kMaxMatrixBytes = size_t{1} << 30;

/// Batch sizes: a single product, the size of published figures, and one that fills the GPU; on cores at most 64.
std::vector<size_t> usual_items(const Problem& problem, Sharing sharing, bool on_cpu) {
  if (on_cpu) return {1, problem.shape == Shape::kMatrix ? size_t{16} : size_t{64}};
  if (problem.shape != Shape::kMatrix) return {1, 512, 65536};
  const size_t fitting = std::max(size_t{1}, kMaxMatrixBytes / (2 * problem.a_words()));
  if (sharing != Sharing::kA) return {1, std::min(size_t{512}, fitting)};
  return {1, problem.rows == 1 ? size_t{552} : size_t{512}, 131072 / problem.rows};
}

/// Plans the batches of one subject with one sharing.
class Planner {
 public:
  Planner(const Request& request, const Subject& subject, Sharing sharing, const std::vector<const Method*>& methods)
      : request_(request), subject_(subject), sharing_(sharing) {
    std::copy_if(methods.begin(), methods.end(), std::back_inserter(able_),
                 [&](const Method* method) { return takes_part(*method); });
  }

  void add_steps(std::vector<Step>& steps) const {
    if (able_.empty()) return;
    if (sharing_ != Sharing::kNone) add_extreme(steps);
    for (const size_t items : all_items()) {
      Step step{&subject_.problem, sharing_, items, false, {}};
      for (const Method* method : able_) {
        if (takes(*method, items)) step.trials.push_back({method, shown(*method, items)});
      }
      steps.push_back(step);
    }
  }

 private:
  bool takes_part(const Method& method) const {
    const bool named = !request_.methods.empty();
    return wanted(request_.methods, method.name) && wanted(request_.on, method.on) && (named || !method.planted) &&
           (subject_.extent != Extent::kAxis || is_cuda(method)) && method.supports(subject_.problem, sharing_);
  }

  std::vector<size_t> items_of(const Method& method) const {
    return request_.items.empty() ? usual_items(subject_.problem, sharing_, !is_cuda(method)) : request_.items;
  }

  bool takes(const Method& method, size_t items) const {
    const std::vector<size_t> own = items_of(method);
    return std::find(own.begin(), own.end(), items) != own.end();
  }

  bool shown(const Method& method, size_t items) const {
    if (subject_.extent == Extent::kEvery || !request_.items.empty()) return true;
    const std::vector<size_t> own = items_of(method);
    return items == *std::max_element(own.begin(), own.end());
  }

  /// Returns all sizes that any method requests, ascending.
  std::vector<size_t> all_items() const {
    std::vector<size_t> all;
    for (const Method* method : able_) {
      const std::vector<size_t> own = items_of(*method);
      all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void add_extreme(std::vector<Step>& steps) const {
    constexpr size_t kItems = 67;
    Step step{&subject_.problem, sharing_, kItems, true, {}};
    for (const Method* method : able_)
      step.trials.push_back({method, false});
    steps.push_back(step);
  }

  const Request& request_;
  const Subject& subject_;
  Sharing sharing_;
  std::vector<const Method*> able_;
};

}  // namespace

bool is_cuda(const Method& method) {
  return std::strcmp(method.on, "cuda") == 0;
}

std::vector<Step> plan(const Request& request, const std::vector<const Method*>& methods) {
  const std::vector<Sharing> usual{Sharing::kNone, Sharing::kA};
  std::vector<Step> steps;
  for (const Subject& subject : request.subjects) {
    for (const Sharing sharing : request.sharing.empty() ? usual : request.sharing)
      Planner(request, subject, sharing, methods).add_steps(steps);
  }
  return steps;
}

size_t count_figures(const std::vector<Step>& steps) {
  size_t count = 0;
  for (const Step& step : steps)
    count += static_cast<size_t>(
        std::count_if(step.trials.begin(), step.trials.end(), [](const Trial& trial) { return trial.figure; }));
  return count;
}

}  // namespace polykem::lab
