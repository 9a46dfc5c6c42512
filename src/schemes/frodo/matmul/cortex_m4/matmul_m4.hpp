// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem::cortex_m4 {

/// Products by SMLAD for FrodoKEM-640. mul_add: inner is 4, rows and columns even, the strides of b and c 640.
/// mul_add_transposed: rows and columns even, inner even. Operands are aligned to 4 bytes, strides even.
extern const MatMulFunctions kMatMul;

}  // namespace polykem::cortex_m4
