// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/lanes/kernels.hpp"

namespace polykem::frodo {

const Kernels kKernelsAmx = {kMatMulAvx512,        kAes128Avx512, &kKeccakAvx512,           lanes::sample,
                             lanes::pack,          lanes::unpack, lanes::unpack_transposed, &kTileProductsAmx,
                             &kShakeProductsAvx512};

}  // namespace polykem::frodo
