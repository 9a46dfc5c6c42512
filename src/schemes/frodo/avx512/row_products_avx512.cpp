// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/row_products.hpp"

#include "schemes/frodo/avx512/row_products.hpp"

namespace polykem::frodo {

const RowProducts kRowProductsAvx512 = {lanes::ColumnSums::bytes, lanes::rows_a_s, lanes::rows_s_a};

}  // namespace polykem::frodo
