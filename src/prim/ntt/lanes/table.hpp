// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/ntt/lanes/products.hpp"
#include "prim/ntt/lanes/transform.hpp"
#include "prim/ntt/ntt_lanes.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr NttLanes kTable = {V16::kLanes,
                                    kPairsInterleaved,
                                    forward_block,
                                    inverse_block,
                                    multiply_blocks<BlockPairs>,
                                    multiply_blocks<SharedPairs>,
                                    add_product_block,
                                    add_block,
                                    canonical_block,
                                    compress_block,
                                    decompress_block,
                                    accept};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
