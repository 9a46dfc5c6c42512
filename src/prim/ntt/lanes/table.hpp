// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/ntt/lanes/products.hpp"
#include "prim/ntt/lanes/transform.hpp"
#include "prim/ntt/ntt_lanes.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr NttFunctions kTable = {V16::kLanes,
                                        kPairsInterleaved,
                                        forward_interleaved,
                                        inverse_interleaved,
                                        multiply_interleaved<InterleavedPairs>,
                                        multiply_interleaved<SharedPairs>,
                                        add_product_interleaved,
                                        add_interleaved,
                                        canonical_interleaved,
                                        compress_interleaved,
                                        decompress_interleaved,
                                        accept};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
