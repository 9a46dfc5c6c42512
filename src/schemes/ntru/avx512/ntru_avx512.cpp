// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/ntru/lanes/backend.hpp"
#include "schemes/ntru/lanes/isa_prims.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Avx512 {
  static constexpr const char* kName = cpu::kAvx512;
  static constexpr size_t kFewestForLanes = 8;
  static Aes256Ctr keystream() { return aes256_ctr_avx512; }
  static const LaneMul* mul(size_t n) { return lane_mul_avx512(n); }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx512; }
  static const PolyInvLanes& inverse() { return kPolyInvLanesAvx512; }
};

}  // namespace

template <NtruParams P>
SchemeBackend avx512_backend() {
  return lanes::backend<P, lanes::WithSinglePrims<Avx512>>();
}

template SchemeBackend avx512_backend<kHps2048509>();
template SchemeBackend avx512_backend<kHps2048677>();
template SchemeBackend avx512_backend<kHps4096821>();
template SchemeBackend avx512_backend<kHrss701>();
template SchemeBackend avx512_backend<kHps40961229>();
template SchemeBackend avx512_backend<kHrss1373>();

}  // namespace polykem::ntru
