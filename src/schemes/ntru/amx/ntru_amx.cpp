// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "core/operations.hpp"
#include "schemes/ntru/kem.hpp"
#include "schemes/ntru/rows/ops.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Amx {
  static Aes256Ctr keystream() { return aes256_ctr_avx512; }
  static const TileMul* mul(size_t n) { return tile_mul_amx(n); }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx512; }
  static const PolyInvLanes& inverse() { return kPolyInvLanesAvx512; }
  static const SortRows& sort() { return kSortRowsAmx; }
};

}  // namespace

template <NtruParams P>
SchemeBackend amx_backend() {
  using Plans = Operations<Kem<rows::Ops<P, Amx>>, rows::Chunk<P, Amx>, rows::KeygenChunk<P, Amx>>;
  return scheme_backend<Plans>(cpu::kAmx);
}

template SchemeBackend amx_backend<kHps2048509>();
template SchemeBackend amx_backend<kHps2048677>();
template SchemeBackend amx_backend<kHps4096821>();
template SchemeBackend amx_backend<kHrss701>();
template SchemeBackend amx_backend<kHps40961229>();
template SchemeBackend amx_backend<kHrss1373>();

}  // namespace polykem::ntru
