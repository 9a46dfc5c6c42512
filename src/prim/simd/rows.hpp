// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// Fixed-size records of a batch: record i starts at `data + i * stride`; no alignment is needed.
struct ByteRows {
  uint8_t* data;
  size_t stride;
};
struct ConstByteRows {
  const uint8_t* data;
  size_t stride;
};

}  // namespace polykem
