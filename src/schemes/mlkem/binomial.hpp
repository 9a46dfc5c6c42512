// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem::mlkem {

/// Returns the sum of the lowest kEta bits minus the sum of the next kEta bits. [FIPS203, Alg 8]
template <unsigned kEta>
constexpr int binomial(unsigned bits) {
  int difference = 0;
  for (unsigned i = 0; i < kEta; ++i)
    difference += static_cast<int>(bits >> i & 1) - static_cast<int>(bits >> (kEta + i) & 1);
  return difference;
}

}  // namespace polykem::mlkem
