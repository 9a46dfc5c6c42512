// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/row_products.hpp"

#include "schemes/frodo/avx512/aes_products.hpp"
#include "schemes/frodo/avx512/row_products.hpp"

namespace polykem::frodo {

const RowProductFunctions kShakeProductsAvx512 = {lanes::ColumnSums::bytes, lanes::rows_a_s, lanes::rows_s_a};
const RowProductFunctions kAesProductsAvx512 = {lanes::AesProductsSpace::bytes, lanes::aes_a_s, lanes::aes_s_a};

}  // namespace polykem::frodo
