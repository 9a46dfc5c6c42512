// SPDX-License-Identifier: Apache-2.0
#include "prim/polymul/lanes/products.hpp"

namespace polykem {

const PolymulFunctions* polymul_avx512(size_t n) {
  return polymul::find_lane_mul(n);
}

}  // namespace polykem
