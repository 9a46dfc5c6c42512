// SPDX-License-Identifier: Apache-2.0
// What this card can do at most, measured in the same run, so that floors mean something.
#pragma once

namespace polykem::bench {

struct Ceilings {
  double imma;       ///< int8 multiply-adds per second of mma.sync m16n8k32
  double dp4a;       ///< int8 multiply-adds per second of dp4a
  double imad;       ///< 32-bit multiply-adds per second
  double bandwidth;  ///< bytes read plus bytes written per second, device to device
};

Ceilings measure_ceilings();

}  // namespace polykem::bench
