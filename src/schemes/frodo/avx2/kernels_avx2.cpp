// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/lanes/kernels.hpp"

namespace polykem::frodo {

const Kernels kKernelsAvx2 = {
    kMatMulAvx2, kAes128Avx2, &kKeccakAvx2, lanes::sample, lanes::pack, lanes::unpack, lanes::unpack_transposed};

const Kernels kKernelsAvx2Vaes = {kMatMulAvx2,   kAes128Avx2Vaes,         &kKeccakAvx2, lanes::sample, lanes::pack,
                                  lanes::unpack, lanes::unpack_transposed};

}  // namespace polykem::frodo
