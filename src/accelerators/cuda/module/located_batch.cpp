// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/located_batch.hpp"

#include <algorithm>

namespace polykem::cuda {

LocatedBatch::LocatedBatch(const DeviceOperation& operation, const BatchView& batch, const uint8_t* seed)
    : operation_(operation), batch_(batch), seed_(seed) {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const FieldInfo& f = kRecordFields[i];
    if (f.data(batch) == nullptr) continue;
    const MemoryLocation found = location_of(f.data(batch));
    if (found.kind == MemoryKind::kUnknown)
      throw CudaError{cudaErrorUnknown, "the driver does not say where an array lies"};
    kinds_[i] = found.kind;
    if (found.kind == MemoryKind::kDevice && ordinal_ >= 0 && ordinal_ != found.ordinal)
      throw Refusal{"arrays and keys of a batch lie on several GPUs"};
    if (found.kind == MemoryKind::kDevice) ordinal_ = found.ordinal;
    const size_t bytes = f.key && batch.shared_key ? 0 : operation.record_bytes.*f.bytes;
    item_bytes_ += bytes;
    if (found.kind == MemoryKind::kDevice) continue;
    crossing_bytes_ += bytes;
    if (f.out != nullptr) returning_bytes_ += bytes;
  }
  const size_t message_bytes = batch.message.bytes(batch.count) / batch.count;
  item_bytes_ += message_bytes, crossing_bytes_ += message_bytes;
  const auto produces_status = [](const DeviceStep& step) { return (step.produces & field::kItemStatus) != 0; };
  wants_status_ =
      batch.item_status != nullptr && std::any_of(operation.steps.begin(), operation.steps.end(), produces_status);
  if (wants_status_) crossing_bytes_ += sizeof(Status);
}

}  // namespace polykem::cuda
