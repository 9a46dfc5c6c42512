// SPDX-License-Identifier: Apache-2.0
// NTRU's sets: the steps of the reference, over the primitives that are best here.
#include "embedded/prims.hpp"
#include "embedded/request.hpp"
#include "embedded/sizes.hpp"
#include "schemes/ntru/kem.hpp"

namespace polykem::embedded {

namespace {

using ntru::NtruParams;

/// The reference's steps with the caller's random bytes.
template <NtruParams P>
struct NtruOps : ntru::ref::Ops<P, NtruPrims> {
  using Chunk = ntru::ref::Chunk<P, NtruPrims>;
  static void draw_keygen(Chunk& c) { draw(c, c.items->draws, P.keygen_draw_bytes()); }
  static void draw_encaps(Chunk& c) { draw(c, c.items->draws, P.encaps_draw_bytes()); }
};

template <NtruParams P>
inline constexpr polykem_embedded_code kNtruCode = code<ntru::Kem<NtruOps<P>>, typename NtruOps<P>::Chunk>();

template <NtruParams P>
constexpr polykem_embedded_set ntru_set(const char* name, size_t stack) {
  return {.name = name,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .ciphertext_bytes = P.ciphertext_bytes(),
          .shared_secret_bytes = P.kSharedSecretBytes,
          .keygen_draw_bytes = P.keygen_draw_bytes(),
          .encaps_draw_bytes = P.encaps_draw_bytes(),
          .workspace_bytes = NtruOps<P>::Chunk::workspace_bytes(1),
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
