// SPDX-License-Identifier: Apache-2.0
#include "products_isa.hpp"

namespace polykem::bench {

std::vector<Product> products_avx512() {
  return all_products();
}

}  // namespace polykem::bench
