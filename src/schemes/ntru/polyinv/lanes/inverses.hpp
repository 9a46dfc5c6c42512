// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemes/ntru/polyinv/lanes/convert.hpp"
#include "schemes/ntru/polyinv/polyinv.hpp"
#include "schemes/ntru/polyinv/polyinv_lanes.hpp"

namespace polykem::polyinv {
inline namespace POLYKEM_ISA {

// A pass has as many steps as fit the registers: 2 kPlanes kSteps registers hold P and Q, kPlanes kSteps hold what
// moves up.
#ifdef POLYKEM_ISA_AVX512
inline constexpr size_t kSteps2 = 8, kSteps3 = 4;
#else
inline constexpr size_t kSteps2 = 4, kSteps3 = 4;
#endif
template <class Layout>
using Steps2 = Divsteps<Gf2, Layout, kSteps2>;
template <class Layout>
using Steps3 = Divsteps<Gf3, Layout, kSteps3>;

template <class Field, class Steps>
void inverse_items(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace) {
  auto* state = static_cast<uint16_t*>(workspace);
  start_state<Steps>(state, n);
  load_items<Field, Steps>(state, a, n);
  Steps::run(state, n);
  store_items<Field, Steps>(inverse, state, n);
  zeroize(state, Steps::segments(n) * Steps::kSegmentWords * sizeof *state);
}

template <class Field, class Steps>
void inverse_single(uint16_t* inverse, const uint16_t* a, size_t n, void* workspace) {
  auto* state = static_cast<uint16_t*>(workspace);
  auto* bytes = reinterpret_cast<uint8_t*>(state + Steps::segments(n) * Steps::kSegmentWords);
  start_state<Steps>(state, n);
  load_single<Field, Steps>(state, a, n, bytes);
  Steps::run(state, n);
  store_single<Field, Steps>(inverse, state, n, bytes);
  zeroize(state, Steps::segments(n) * Steps::kSegmentWords * sizeof *state);
  zeroize(bytes, n + Steps::kSteps + 63);
}

template <class Steps>
constexpr size_t state_bytes() {
  return Steps::segments(kMaxInverseDegree) * Steps::kSegmentWords * sizeof(uint16_t);
}

constexpr size_t workspace_bytes() {
  constexpr size_t kItems = state_bytes<Steps3<ItemLanes>>() > state_bytes<Steps2<ItemLanes>>()
                                ? state_bytes<Steps3<ItemLanes>>()
                                : state_bytes<Steps2<ItemLanes>>();
  constexpr size_t kOne =
      (state_bytes<Steps3<SingleItem>>() > state_bytes<Steps2<SingleItem>>() ? state_bytes<Steps3<SingleItem>>()
                                                                             : state_bytes<Steps2<SingleItem>>()) +
      (kMaxInverseDegree + 128) / 64 * 64;
  return kItems > kOne ? kItems : kOne;
}

constexpr PolyInvFunctions table() {
  return {kRegisterWords,
          workspace_bytes(),
          inverse_items<Gf2, Steps2<ItemLanes>>,
          inverse_items<Gf3, Steps3<ItemLanes>>,
          inverse_single<Gf2, Steps2<SingleItem>>,
          inverse_single<Gf3, Steps3<SingleItem>>};
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::polyinv
