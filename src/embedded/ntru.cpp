// SPDX-License-Identifier: Apache-2.0
// NTRU's sets: steps that need little memory, over the primitives that are best here.
#include <algorithm>

#include "embedded/prims.hpp"
#include "embedded/request.hpp"
#include "embedded/sizes.hpp"
#include "schemes/ntru/low_memory/steps.hpp"

namespace polykem::embedded {

namespace {

using ntru::NtruParams;

/// The steps of NTRU, with coins from the caller's random bytes.
template <NtruParams P>
struct NtruSteps : ntru::low_memory::Steps<P, NtruPrims> {
  using Base = ntru::low_memory::Steps<P, NtruPrims>;
  using typename Base::EncapsState;
  using typename Base::KeygenState;
  static void make_keygen_coins(KeygenState& state) {
    random_bytes(state, state.work.sampling.coins, P.keygen_coin_bytes());
  }
  static void make_encaps_coins(EncapsState& state) {
    random_bytes(state, state.work.sampling.coins, P.encaps_coin_bytes());
  }
};

template <NtruParams P>
inline constexpr polykem_embedded_code kNtruCode = code<ntru::low_memory::Kem<NtruSteps<P>>>();

template <NtruParams P>
constexpr polykem_embedded_set ntru_set(const char* name, size_t stack) {
  constexpr size_t kKeygen = NtruSteps<P>::KeygenState::workspace_bytes();
  constexpr size_t kEncaps = NtruSteps<P>::EncapsState::workspace_bytes();
  constexpr size_t kDecaps = NtruSteps<P>::DecapsState::workspace_bytes();
  return {.name = name,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .ciphertext_bytes = P.ciphertext_bytes(),
          .shared_secret_bytes = P.kSharedSecretBytes,
          .keygen_coin_bytes = P.keygen_coin_bytes(),
          .encaps_coin_bytes = P.encaps_coin_bytes(),
          .keygen_workspace_bytes = kKeygen,
          .encaps_workspace_bytes = kEncaps,
          .decaps_workspace_bytes = kDecaps,
          .workspace_bytes = std::max({kKeygen, kEncaps, kDecaps}),
          .stack_bytes = stack,
          .code = &kNtruCode<P>};
}

}  // namespace
}  // namespace polykem::embedded

using namespace polykem;
using embedded::ntru_set;
POLYKEM_EMBEDDED_DEFINE(ntruhps2048509, NTRUHPS2048509, ntru_set<ntru::kHps2048509>);
POLYKEM_EMBEDDED_DEFINE(ntruhps2048677, NTRUHPS2048677, ntru_set<ntru::kHps2048677>);
POLYKEM_EMBEDDED_DEFINE(ntruhps4096821, NTRUHPS4096821, ntru_set<ntru::kHps4096821>);
POLYKEM_EMBEDDED_DEFINE(ntruhrss701, NTRUHRSS701, ntru_set<ntru::kHrss701>);
