// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// Fixed-size records of a batch: record i starts at `data + i * stride`; no alignment is needed.
struct ConstByteRows {
  const uint8_t* data;
  size_t stride;

  constexpr const uint8_t* at(size_t i) const { return data + i * stride; }
};
/// Fixed-size records of a batch that are written, laid out like ConstByteRows.
struct ByteRows {
  uint8_t* data;
  size_t stride;

  constexpr uint8_t* at(size_t i) const { return data + i * stride; }
  constexpr operator ConstByteRows() const { return {data, stride}; }
};

/// Returns the rows of a table, from byte `offset` of each on.
template <size_t kRows, size_t kBytes>
constexpr ByteRows rows_of(uint8_t (&table)[kRows][kBytes], size_t offset = 0) {
  return {table[0] + offset, kBytes};
}

}  // namespace polykem
