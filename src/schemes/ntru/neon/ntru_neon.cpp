// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/ntru/interleaved/backend.hpp"
#include "schemes/ntru/ref/vector_prims.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Neon {
  static constexpr const char* kName = cpu::kNeon;
  static const PolymulFunctions* mul(size_t n) { return polymul_neon(n); }
  static const KeccakFunctions& keccak() { return kKeccakNeon; }
  static const PolyInvFunctions& inverse() { return kPolyInvNeon; }
};

}  // namespace

template <NtruParams P>
const SchemeBackend& neon_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, ref::VectorPrims<Neon>, tuning::Cpu::kNeon>();
  return kBackend;
}

template const SchemeBackend& neon_backend<kHps2048509>();
template const SchemeBackend& neon_backend<kHps2048677>();
template const SchemeBackend& neon_backend<kHps4096821>();
template const SchemeBackend& neon_backend<kHrss701>();
template const SchemeBackend& neon_backend<kHps40961229>();
template const SchemeBackend& neon_backend<kHrss1373>();

}  // namespace polykem::ntru
