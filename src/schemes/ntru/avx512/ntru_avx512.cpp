// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/ntru/interleaved/backend.hpp"
#include "schemes/ntru/ref/vector_prims.hpp"
#include "schemes/ntru/single/single_products.hpp"
#include "schemes/ntru/single/steps.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Avx512 {
  static constexpr const char* kName = cpu::kAvx512;
  static const PolymulFunctions* mul(size_t n) { return polymul_avx512(n); }
  static const KeccakFunctions& keccak() { return kKeccakAvx512; }
  static const PolyInvFunctions& inverse() { return kPolyInvAvx512; }
};

using Lanes = ref::VectorPrims<Avx512>;

struct Rows : Avx512 {
  static single::SingleProducts mul(size_t n) { return single::SingleProducts(*polymul_avx512(n)); }
  static const RowSortFunctions& sort() { return kRowSortAvx512; }
};

/// The operations on small batches. The coefficients of an item lie side by side, except in key generation, most of
/// whose time is spent on inversions.
template <NtruParams P>
using Singles =
    Operations<Kem<single::Steps<P, Rows>, ref::Steps<P, Lanes>>, single::State<P, Rows>, ref::State<P, Lanes>>;

}  // namespace

template <NtruParams P>
const SchemeBackend& avx512_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, Lanes, tuning::Cpu::kAvx512, Singles<P>>();
  return kBackend;
}

template const SchemeBackend& avx512_backend<kHps2048509>();
template const SchemeBackend& avx512_backend<kHps2048677>();
template const SchemeBackend& avx512_backend<kHps4096821>();
template const SchemeBackend& avx512_backend<kHrss701>();
template const SchemeBackend& avx512_backend<kHps40961229>();
template const SchemeBackend& avx512_backend<kHrss1373>();

}  // namespace polykem::ntru
