// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/ntt/lanes/products.hpp"
#include "prim/ntt/lanes/transform.hpp"
#include "prim/ntt/ntt_lanes.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr NttLanes kTable = {V16::kLanes,
                                    forward_block,
                                    inverse_block,
                                    multiply_blocks<BlockWords>,
                                    multiply_blocks<SharedWords>,
                                    add_product_block,
                                    canonical_block,
                                    compress_block,
                                    decompress_block,
                                    accept};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
