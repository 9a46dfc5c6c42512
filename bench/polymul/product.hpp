// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace polykem::bench {

enum class Kind { cyclic, cyclic_ternary, s3 };

/// One way to multiply a block of `lanes` items (or one item, plain layout, if `lanes` is 1).
struct Product {
  const char* name;
  Kind kind;
  size_t n;
  size_t lanes;
  unsigned exact_bits;
  size_t workspace_bytes;
  void (*mul)(uint16_t* c, const uint16_t* a, const uint16_t* b, void* ws);
  /// Core cycles per item that the multiplications alone take at two vector multiplications per cycle; 0: not stated.
  double floor_cycles;
  bool chosen = false;  ///< what the library's backend uses
};

std::vector<Product> products_avx2();
std::vector<Product> products_avx512();

}  // namespace polykem::bench
