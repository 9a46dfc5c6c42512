// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/lanes/kernels.hpp"

namespace polykem::frodo {

const Kernels kKernelsAvx512 = {kMatMulAvx512, kAes128Avx512, &kKeccakAvx512,          lanes::sample,
                                lanes::pack,   lanes::unpack, lanes::unpack_transposed};
const Kernels kKernelsAvx512Intel = {kMatMulAvx512,        kAes128Avx512, &kKeccakAvx512,           lanes::sample,
                                     lanes::pack,          lanes::unpack, lanes::unpack_transposed, nullptr,
                                     &kShakeProductsAvx512};
const Kernels kKernelsAvx512Zen5 = {kMatMulAvx512,         kAes128Avx512,      &kKeccakAvx512,           lanes::sample,
                                    lanes::pack,           lanes::unpack,      lanes::unpack_transposed, nullptr,
                                    &kShakeProductsAvx512, &kAesProductsAvx512};

}  // namespace polykem::frodo
