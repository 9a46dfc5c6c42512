// SPDX-License-Identifier: Apache-2.0
// What of an operation may overlap with its neighbours, derived from what its steps need and produce.
#pragma once

#include <algorithm>

#include "core/device.hpp"

namespace polykem::cuda {

struct Overlap {
  size_t early_steps;    ///< so many first steps touch no key and no ciphertext: they need not wait for the way in
  size_t late_step;      ///< from here on only what the last step completes is still to come
  Fields early_outputs;  ///< outputs that are complete by then, and may leave
};

/// One past the last step that produces the field; 0 if none does.
constexpr size_t complete_at(std::span<const DeviceStep> steps, Fields field) {
  size_t end = steps.size();
  while (end > 0 && (steps[end - 1].produces & field) == 0)
    --end;
  return end;
}

constexpr Overlap overlap_of(std::span<const DeviceStep> steps) {
  constexpr Fields kArriving = field::kKeysAndCiphertexts | field::kItemStatus;
  Overlap result{0, steps.size(), 0};
  while (result.early_steps < steps.size() &&
         ((steps[result.early_steps].needs | steps[result.early_steps].produces) & kArriving) == 0)
    ++result.early_steps;
  size_t late = 0;
  for (const FieldInfo& f : kRecordFields) {
    const size_t end = complete_at(steps, f.field);
    if (f.out == nullptr || end == 0 || end == steps.size()) continue;
    late = std::max(late, end);
    result.early_outputs |= f.field;
  }
  if (late > 0) result.late_step = std::max(late, result.early_steps);
  return result;
}

}  // namespace polykem::cuda
