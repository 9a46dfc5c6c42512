// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.hpp"

namespace polykem::cuda {

/// Key records in a GPU's memory, wiped before they are freed.
class DeviceKeys {
 public:
  DeviceKeys() = default;
  ~DeviceKeys();
  DeviceKeys(const DeviceKeys&) = delete;
  DeviceKeys& operator=(const DeviceKeys&) = delete;

  /// Once. Status::out_of_memory if no GPU has room.
  [[nodiscard]] Status allocate(size_t bytes);
  /// Copies the first `bytes` bytes, which lie anywhere.
  [[nodiscard]] Status fill(const uint8_t* from, size_t bytes);

  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace polykem::cuda
