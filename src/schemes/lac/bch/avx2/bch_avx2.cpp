// SPDX-License-Identifier: Apache-2.0
#include "schemes/lac/bch/lanes/words.hpp"

namespace polykem {

const BchFunctions kBch8Avx2 = bch::Words<8>::kTable, kBch16Avx2 = bch::Words<16>::kTable;

}  // namespace polykem
