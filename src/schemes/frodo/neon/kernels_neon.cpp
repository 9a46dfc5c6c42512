// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/lanes/kernels.hpp"

namespace polykem::frodo {

const Kernels kKernelsNeon = {
    kMatMulNeon, kAes128Neon, &kKeccakNeon, lanes::sample, lanes::pack, lanes::unpack, lanes::unpack_transposed};

const Kernels kKernelsNeonWithoutAes = {
    kMatMulNeon, kAes128Portable, &kKeccakNeon, lanes::sample, lanes::pack, lanes::unpack, lanes::unpack_transposed};

const Kernels kKernelsNeonSha3 = {kMatMulNeon, kAes128Neon,   &kKeccakNeonSha3,        lanes::sample,
                                  lanes::pack, lanes::unpack, lanes::unpack_transposed};

}  // namespace polykem::frodo
