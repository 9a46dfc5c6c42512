// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "core/operations.hpp"
#include "schemes/ntru/kem.hpp"
#include "schemes/ntru/single/steps.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

struct Amx {
  static const TileMulFunctions* mul(size_t n) { return tile_mul_amx(n); }
  static const KeccakFunctions& keccak() { return kKeccakAvx512; }
  static const PolyInvFunctions& inverse() { return kPolyInvAvx512; }
  static const RowSortFunctions& sort() { return kRowSortAmx; }
};

/// A Kem whose encaps begins with the product, which hides most of the time of the random generator. That step also
/// samples r, so sample_rm samples only m.
template <class Steps>
struct TileKem : Kem<Steps> {
  static constexpr auto encaps = plan_of<kEncapsStages, typename Steps::State>({
      {with_ahead({"randombytes.frombytes.mul", "randombytes"}, "poly_Rq_sum_zero_frombytes", "poly_Rq_mul"),
       Steps::mul_hr_make_m_coins},
      {"sample_rm", Steps::sample_m},
      {"poly_S3_tobytes", Steps::pack_rm},
      {"sha3_256", Steps::hash_rm},
      {"poly_lift_add", Steps::lift_add},
      {"poly_Rq_sum_zero_tobytes", Steps::store_c},
  });
};

}  // namespace

template <NtruParams P>
const SchemeBackend& amx_backend() {
  using Plans = Operations<TileKem<single::Steps<P, Amx>>, single::State<P, Amx>, single::KeygenState<P, Amx>>;
  static constexpr SchemeBackend kBackend = scheme_backend<Plans>(cpu::kAmx);
  return kBackend;
}

template const SchemeBackend& amx_backend<kHps2048509>();
template const SchemeBackend& amx_backend<kHps2048677>();
template const SchemeBackend& amx_backend<kHps4096821>();
template const SchemeBackend& amx_backend<kHrss701>();
template const SchemeBackend& amx_backend<kHps40961229>();
template const SchemeBackend& amx_backend<kHrss1373>();

}  // namespace polykem::ntru
