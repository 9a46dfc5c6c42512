// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/lanes/backend.hpp"
#include "schemes/ntru/lanes/isa_prims.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Avx512 {
  static constexpr BackendId kBackend = BackendId::avx512;
  static constexpr size_t kFewestForLanes = 8;
  static constexpr Aes256Ctr kKeystream = aes256_ctr_avx512;
  static const LaneMul* mul(size_t n) { return lane_mul_avx512(n); }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx512; }
  static const PolyInvLanes& inverse() { return kPolyInvLanesAvx512; }
};

}  // namespace

std::span<const SchemeBackend> avx512_backends() {
  return lanes::kBackends<lanes::WithSinglePrims<Avx512>>;
}

}  // namespace polykem::ntru
