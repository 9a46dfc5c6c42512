// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/device_keys.hpp"

#include "engine/cuda/loader.hpp"

namespace polykem::cuda {

DeviceKeys::~DeviceKeys() {
  if (data_ != nullptr) loaded_module().table->release(reinterpret_cast<std::byte*>(data_), bytes_);
}

Status DeviceKeys::allocate(size_t bytes) {
  const ModuleTable* table = loaded_module().table;
  if (table == nullptr) return Status::backend_unavailable;
  ErrorText why{};
  data_ = reinterpret_cast<uint8_t*>(table->allocate(bytes, &why));
  bytes_ = bytes;
  return data_ == nullptr ? Status::out_of_memory : Status::ok;
}

Status DeviceKeys::fill(const uint8_t* from, size_t bytes) {
  ErrorText why{};
  return loaded_module().table->copy(data_, from, bytes, &why) == Outcome::ok ? Status::ok
                                                                              : Status::backend_unavailable;
}

}  // namespace polykem::cuda
