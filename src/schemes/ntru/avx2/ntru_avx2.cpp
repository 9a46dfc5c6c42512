// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/ntru/interleaved/backend.hpp"
#include "schemes/ntru/ref/vector_prims.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Avx2 {
  static constexpr const char* kName = cpu::kAvx2;
  static const PolymulFunctions* mul(size_t n) { return polymul_avx2(n); }
  static const KeccakFunctions& keccak() { return kKeccakAvx2; }
  static const PolyInvFunctions& inverse() { return kPolyInvAvx2; }
};

}  // namespace

template <NtruParams P>
const SchemeBackend& avx2_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, ref::VectorPrims<Avx2>, tuning::Cpu::kAvx2>();
  return kBackend;
}

template const SchemeBackend& avx2_backend<kHps2048509>();
template const SchemeBackend& avx2_backend<kHps2048677>();
template const SchemeBackend& avx2_backend<kHps4096821>();
template const SchemeBackend& avx2_backend<kHrss701>();
template const SchemeBackend& avx2_backend<kHps40961229>();
template const SchemeBackend& avx2_backend<kHrss1373>();

}  // namespace polykem::ntru
