// SPDX-License-Identifier: Apache-2.0
#include "prim/polymul/amx/toeplitz.hpp"

namespace polykem {

const TileMulFunctions* tile_mul_amx(size_t n) {
  switch (n) {
    case 509:
      return &polymul::kTileMul<509>;
    case 677:
      return &polymul::kTileMul<677>;
    case 701:
      return &polymul::kTileMul<701>;
    case 821:
      return &polymul::kTileMul<821>;
    case 1229:
      return &polymul::kTileMul<1229>;
    case 1373:
      return &polymul::kTileMul<1373>;
    default:
      return nullptr;
  }
}

}  // namespace polykem
