// SPDX-License-Identifier: Apache-2.0
// FrodoKEM-640: the stages as everywhere, with a few rows of A at a time, so that they fit a part with 128 KB.
#include "embedded/frodo_kernels.hpp"
#include "embedded/request.hpp"
#include "embedded/sizes.hpp"
#include "schemes/frodo/kem.hpp"

namespace polykem::embedded {

namespace {

using frodo::Set;

void draw_keygen(frodo::Chunk& c) {
  draw(c, c.items->draws, c.set.keygen_draw_bytes());
}

void draw_encaps(frodo::Chunk& c) {
  draw(c, c.items->draws, c.set.encaps_draw_bytes());
  frodo::ops::place_encaps_draws(c);
}

/// `steps` with another first step.
template <size_t N>
consteval auto with_draws(std::array<Step<frodo::Chunk>, N> steps, void (*draws)(frodo::Chunk&)) {
  steps[0].run = draws;
  return steps;
}

/// A chunk of one item of a set.
template <size_t kSet>
struct FrodoChunk : frodo::Chunk {
  FrodoChunk(const Batch& batch, std::byte* workspace)
      : Chunk(frodo::kSets[kSet], kFrodoKernels, batch, workspace, false) {}
};

template <size_t kSet>
struct FrodoKem : SameChunk<FrodoChunk<kSet>> {
  static constexpr auto keygen = with_draws(frodo::Kem::keygen, draw_keygen);
  static constexpr auto encaps = with_draws(frodo::Kem::encaps, draw_encaps);
  static constexpr auto decaps = frodo::Kem::decaps;
};

template <size_t kSet>
inline constexpr polykem_embedded_code kFrodoCode = code<FrodoKem<kSet>>();

template <size_t kSet>
constexpr polykem_embedded_set frodo_set(const char* name, size_t stack) {
  constexpr const Set& kOf = frodo::kSets[kSet];
  constexpr size_t kWorkspace = frodo::Chunk::plain_workspace_bytes(kOf, kFrodoTileRows, 1);
  return {.name = name,
          .public_key_bytes = kOf.public_key_bytes(),
          .secret_key_bytes = kOf.secret_key_bytes(),
          .ciphertext_bytes = kOf.ciphertext_bytes(),
          .shared_secret_bytes = kOf.p.secret_bytes,
          .keygen_draw_bytes = kOf.keygen_draw_bytes(),
          .encaps_draw_bytes = kOf.encaps_draw_bytes(),
          .keygen_workspace_bytes = kWorkspace,
          .encaps_workspace_bytes = kWorkspace,
          .decaps_workspace_bytes = kWorkspace,
          .workspace_bytes = kWorkspace,
          .stack_bytes = stack,
          .code = &kFrodoCode<kSet>};
}

}  // namespace
}  // namespace polykem::embedded

using polykem::embedded::frodo_set;
POLYKEM_EMBEDDED_DEFINE(frodokem640aes, FRODOKEM640AES, frodo_set<0>);
POLYKEM_EMBEDDED_DEFINE(frodokem640shake, FRODOKEM640SHAKE, frodo_set<1>);
