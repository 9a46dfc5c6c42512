// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/lanes/backend.hpp"
#include "schemes/ntru/lanes/isa_prims.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Avx2 {
  static constexpr BackendId kBackend = BackendId::avx2;
  static constexpr size_t kFewestForLanes = 4;
  static constexpr Aes256Ctr kKeystream = aes256_ctr_avx2;
  static const LaneMul* mul(size_t n) { return lane_mul_avx2(n); }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx2; }
  static const PolyInvLanes& inverse() { return kPolyInvLanesAvx2; }
};

}  // namespace

std::span<const SchemeBackend> avx2_backends() {
  return lanes::kBackends<lanes::WithSinglePrims<Avx2>>;
}

}  // namespace polykem::ntru
