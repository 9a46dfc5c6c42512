// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "accelerators/cuda/module/device.hpp"
#include "accelerators/cuda/module/located_batch.hpp"

namespace polykem::cuda {

/// Consecutive items of a batch on one device: their inputs are copied in, the steps run, outputs are copied back, and
/// the memory is zeroized.
class Part {
 public:
  /// Batches up to this size have a stream of their own and overtake larger ones.
  static constexpr size_t kSmallBatchBytes = size_t{6} << 20;

  Part(Device& device, const LocatedBatch& batch, size_t first, size_t count);
  /// Zeroizes the memory of a part that finish() did not end, as far as the device still responds.
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  /// The device memory that it needs.
  size_t device_bytes() const;
  /// Queues all work. times: as in ModuleTable::run; if given, the steps run one by one on one stream. The
  /// resources may contain what an earlier part of the batch left. Throws CudaError.
  void start(std::unique_ptr<PartResources> resources, StepTimes* times);
  /// Waits until the outputs have arrived. The arena still contains what the part left there. Throws CudaError.
  std::unique_ptr<PartResources> finish();

 private:
  /// An array, at the caller and on the device.
  struct Array {
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    size_t bytes = 0;
    Fields field = 0;
    MemoryKind kind = MemoryKind::kPageable;
    bool secret = false;
    std::byte* device = nullptr;
    std::byte* staged = nullptr;

    bool needs_device() const { return bytes > 0 && kind != MemoryKind::kDevice; }
    bool needs_staging() const { return bytes > 0 && kind == MemoryKind::kPageable; }
  };
  /// The arrays: records in the order of kRecordFields, then all others.
  enum Name {
    kIndex = std::size(kRecordFields),
    kChosen,
    kStatus,
    kMessages,
    kMessageOffsets,
    kContexts,
    kContextOffsets,
    kArrays
  };
  struct Streams {
    cudaStream_t up, early, kernels, down;
  };

  size_t secret_bytes() const;
  void list_arrays();
  void list_strings(const Strings& strings, Name bytes, Name offsets);
  Strings on_device(const Strings& strings, Name bytes, Name offsets) const;
  void assign_memory();
  void fill_device_batch();
  void stage_seed();
  void copy_to_staging();
  void queue(SharedStreams* shared);
  void upload();
  void steps(SharedStreams* shared);
  void launch(size_t first_step, size_t end_step, cudaStream_t stream);
  void queue_steps(size_t first_step, size_t end_step, cudaStream_t stream);
  void run_step(size_t step, size_t tile, cudaStream_t stream);
  void wait_for_upload();
  void download(Fields fields);
  void copy_from_staging();
  void zeroize_staging();
  bool zeroize_arena();
  void abandon();
  void mark(size_t entry, cudaStream_t stream);
  void collect();

  Device& device_;
  const LocatedBatch& batch_;
  const DeviceOperation& operation_;
  const size_t first_, count_;
  const BatchView items_;  ///< the caller's arrays
  std::unique_ptr<PartResources> resources_;
  Streams streams_{};
  bool queued_ = false;
  bool side_by_side_ = false;  ///< with other parts; the steps that fill the device make way for the others
  StepTimes* times_ = nullptr;
  std::vector<size_t> marks_;  ///< for each event of the clock: the entry of `times_` whose time it ends
  std::array<Array, kArrays> arrays_;
  std::byte *seed_device_ = nullptr, *seed_staged_ = nullptr, *workspace_ = nullptr;
  DeviceBatch device_batch_;
};

}  // namespace polykem::cuda
