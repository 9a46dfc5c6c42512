// SPDX-License-Identifier: Apache-2.0
#include "embedded/frodo_kernels.hpp"

#include "prim/aes/tables/aes128_tables.hpp"
#include "schemes/frodo/ref/kernels.hpp"

#ifdef POLYKEM_CORTEX_M4
#include "prim/aes/cortex_m4/aes128_m4.hpp"
#include "schemes/frodo/matmul/cortex_m4/matmul_m4.hpp"
#endif

namespace polykem::embedded {

namespace {

#ifdef POLYKEM_CORTEX_M4
constexpr const MatMulFunctions& kMatMul = cortex_m4::kMatMul;
constexpr Aes128Functions kAes = {nullptr, cortex_m4::aes128_grid};  // FrodoKEM needs no more
#else
constexpr const MatMulFunctions& kMatMul = kMatMulPortable;
constexpr const Aes128Functions& kAes = kAes128Tables;
#endif

}  // namespace

const frodo::Kernels kFrodoKernels = {.matmul = kMatMul,
                                      .aes = kAes,
                                      .keccak = nullptr,
                                      .sample = frodo::ref::sample,
                                      .pack = frodo::ref::pack,
                                      .unpack = frodo::ref::unpack,
                                      .unpack_transposed = frodo::ref::unpack_transposed,
                                      .tile_rows = kFrodoTileRows};

}  // namespace polykem::embedded
