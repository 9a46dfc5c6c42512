// SPDX-License-Identifier: Apache-2.0
// Derives, from what the steps of an operation need and produce, which of them may overlap with other parts.
#pragma once

#include <algorithm>

#include "core/device.hpp"

namespace polykem::cuda {

struct Overlap {
  size_t early_steps;    ///< the number of first steps that use no key or ciphertext, and so do not wait for inputs
  size_t late_step;      ///< from this step on, only the outputs that the last step completes are missing
  Fields early_outputs;  ///< outputs that are complete by then, and may be copied back
};

/// True if, in a batch with a key for each item, one step fills the device and takes most of the time. Parts of such a
/// batch run side by side. That step has the lower priority, so that another part's short steps do not wait for it.
constexpr bool fills_device(std::span<const DeviceStep> steps) {
  return std::any_of(steps.begin(), steps.end(), [](const DeviceStep& step) { return step.fills_device; });
}

/// The index after that of the last step that produces the field; 0 if no step does.
constexpr size_t complete_at(std::span<const DeviceStep> steps, Fields field) {
  size_t end = steps.size();
  while (end > 0 && (steps[end - 1].produces & field) == 0)
    --end;
  return end;
}

constexpr Overlap overlap_of(std::span<const DeviceStep> steps) {
  // An early step may write shared secrets but no key, ciphertext or signature: key generation's sampling gains nothing
  // from running early (docs/adr/0009).
  constexpr Fields kEndsEarlySteps =
      field::kPk | field::kSk | field::kCt | field::kSig | (field::kOutputs & ~field::kSsOut);
  Overlap result{0, steps.size(), 0};
  while (result.early_steps < steps.size() &&
         ((steps[result.early_steps].needs | steps[result.early_steps].produces) & kEndsEarlySteps) == 0)
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
