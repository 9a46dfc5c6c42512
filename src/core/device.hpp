// SPDX-License-Identifier: Apache-2.0
// The interface of a scheme to an accelerator's module: a table of operations for each parameter set. An operation is a
// list of steps that run on a stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/batch.hpp"
#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem {

/// A run of items whose arrays all lie in device memory, key_index too. Records have any alignment; the memory must be
/// readable up to the next multiple of 4 bytes. Strings with offsets: the first lies at `data`, whatever offsets[0] is;
/// data is nullptr only where the caller gave none. key_index is nullptr where there is no expanded form: the chosen
/// records have then been copied side by side. item_status: preset to ok; nullptr if the caller does not want it.
struct DeviceBatch : BatchView {
  const uint32_t* seed = nullptr;  ///< 32 bytes, 4-byte aligned, fresh for every batch; used where coins is nullptr
  bool overlapped = false;         ///< other parts run at the same time: throughput matters, not a step's latency

  bool operator==(const DeviceBatch&) const = default;
};

/// The kernels that run where a step has one for few items and one for many. Tests force one of them.
enum class KernelChoice : int { kByCount = 0, kFew = 1, kMany = 2 };

/// A step, and the arrays of the batch that it touches; data that stays in the workspace is not listed. The pipeline
/// derives from this what may overlap, and when an output can leave.
struct DeviceStep {
  StepInfo info;
  Fields needs;     ///< reads them
  Fields produces;  ///< writes all of them or a part
  /// True if the step takes most of the operation's time and has work for the whole device; other steps are too short
  /// or too narrow to fill it.
  bool fills_device = false;
};

/// A step and the function that launches its kernels. `Context`: the scheme's own view of the batch, the workspace and
/// the stream.
template <class Context, class Info = StepInfo>
struct KernelStep {
  Info info;
  Fields needs, produces;
  void (*run)(Context&);
  bool fills_device = false;
};

/// Returns the plan of an operation, like plan_of().
template <const auto& kStages, class Context, size_t N>
constexpr std::array<KernelStep<Context>, N> kernel_plan_of(const KernelStep<Context, StepStages> (&steps)[N]) {
  std::array<KernelStep<Context>, N> plan{};
  for (size_t i = 0; i < N; ++i)
    plan[i] = {step_info(kStages, steps[i].info), steps[i].needs, steps[i].produces, steps[i].run,
               steps[i].fills_device};
  if (!covers_each_stage_once(plan, kStages.size())) not_every_stage_is_covered_once();
  return plan;
}

template <class Context, size_t N>
consteval std::array<DeviceStep, N> device_steps(const std::array<KernelStep<Context>, N>& steps) {
  std::array<DeviceStep, N> result{};
  for (size_t i = 0; i < N; ++i)
    result[i] = {steps[i].info, steps[i].needs, steps[i].produces, steps[i].fills_device};
  return result;
}

/// One operation. Launches are asynchronous on `stream`, which is of the module's own kind. Functions return the
/// driver's error code, 0 for success.
struct DeviceOperation {
  const char* scheme;
  Op op;
  RecordBytes record_bytes;
  std::span<const DeviceStep> steps;  ///< the launch list
  size_t part_items;                  ///< a hint: this many items keep prim/cuda's kMeasuredMultiprocessors busy
  size_t busy_part_items = 0;         ///< the same while the device has another batch to compute as well; 0: the same
  /// The most bytes of the records of a part; 0: as many as let the first outputs be copied back early. Operations
  /// whose kernels take much longer than the copies have larger parts.
  size_t part_bytes = 0;
  size_t staged_bytes;  ///< a hint: bytes of records that one thread copies and hands over at a time
  size_t min_items;     ///< a hint: fewer at a time waste the device, however many bytes they have
  size_t max_items;     ///< the most that one launch can index
  size_t (*workspace_bytes)(size_t items);  ///< device memory for the intermediates of a batch; a multiple of 256
  /// Returns the number of bytes at the workspace's beginning that may hold secrets, a multiple of 256. nullptr: all of
  /// them.
  size_t (*secret_bytes)(size_t items) = nullptr;
  /// The number of rounds of the tiled steps for a batch; nullptr if no step is tiled.
  size_t (*tiles)(const DeviceBatch& batch);
  /// tile: the round of a tiled step, else 0. workspace: 256-byte aligned; the caller zeroizes its first
  /// zeroized_bytes().
  int (*run_step)(size_t step, size_t tile, const DeviceBatch& batch, std::byte* workspace, void* stream);

  size_t zeroized_bytes(size_t items) const {
    return secret_bytes == nullptr ? workspace_bytes(items) : secret_bytes(items);
  }
};

/// The expanded form in which a key set keeps keys on the device, besides their records. bytes == 0: there is no such
/// form. Batches get it if their key set has it.
struct DeviceExpandedKeyFormat {
  size_t bytes = 0;                                   ///< of one key; a multiple of 64
  size_t (*workspace_bytes)(size_t count) = nullptr;  ///< device memory; a multiple of 256
  /// out: count x bytes, 64-byte aligned. Asynchronous; the driver's error code.
  int (*expand)(std::byte* out, const uint8_t* keys, size_t count, std::byte* workspace, void* stream) = nullptr;
  size_t max_keys = SIZE_MAX;  ///< of a set; one with more goes without
  bool shared_only = false;    ///< only batches with one key for all items get it
};

/// Everything that a module knows of one parameter set.
struct DeviceScheme {
  const char* name;
  std::array<DeviceOperation, kOpCount> operations;  ///< those that the set has
  DeviceExpandedKeyFormat expanded_public_key{}, expanded_secret_key{};
  size_t shared_bytes = 0;  ///< dynamic shared memory that a block needs; a device with less cannot run the set
  /// Where a secret key for signing holds the hash of its public key: kMuBytes on which mu depends.
  size_t hash_of_key_at = 0;

  const DeviceOperation& operation(Op op) const { return operations[static_cast<size_t>(op)]; }
};

}  // namespace polykem
