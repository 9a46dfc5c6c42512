// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "schemes/lac/params.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

/// Multiples of q that are added to a signed word so that it is not negative.
inline constexpr uint16_t kLift16 = 130 * kQ;   // 32630
inline constexpr uint32_t kLift32 = 1100 * kQ;  // 276100

/// Returns a word of the same residue modulo q, at most 1525: 2^8 is 5 modulo q. Range in: -32630 <= x <= 32767.
constexpr int16_t folded(int16_t x) {
  const auto lifted = static_cast<uint16_t>(x + kLift16);
  return static_cast<int16_t>((lifted & 255) + 5 * (lifted >> 8));
}

/// Returns x mod q. Range in: 0 <= x <= 1525.
constexpr uint8_t canonical(int16_t x) {
  const auto small = static_cast<int16_t>((x & 255) + 5 * (x >> 8));  // at most 280
  const auto below = static_cast<int16_t>(small - static_cast<int16_t>(kQ));
  return static_cast<uint8_t>(below + (below >> 15 & static_cast<int16_t>(kQ)));
}
static_assert(canonical(1525) == 1525 % kQ && canonical(250) == 250 && canonical(251) == 0 && canonical(502) == 0);

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
