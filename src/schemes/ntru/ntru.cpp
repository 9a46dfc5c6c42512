// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/ntru.hpp"

#include "schemes/ntru/ref/backend.hpp"

namespace polykem::ntru {

namespace {

template <NtruParams P>
constexpr SchemeBackend kBackends[] = {ref::kBackend<P>};

template <NtruParams P>
constexpr Scheme scheme(const char* name, const char* title, uint32_t category) {
  return {.name = name,
          .family = "ntru",
          .title = title,
          .aliases = {},
          .security_category = category,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .ciphertext_bytes = P.ciphertext_bytes(),
          .shared_secret_bytes = P.kSharedSecretBytes,
          .keygen_draw_bytes = P.keygen_draw_bytes(),
          .encaps_draw_bytes = P.encaps_draw_bytes(),
          .backends = kBackends<P>};
}

constexpr Scheme kSchemes[] = {
    scheme<kHps2048509>("ntruhps2048509", "NTRU-HPS-2048-509", 1),
    scheme<kHps2048677>("ntruhps2048677", "NTRU-HPS-2048-677", 3),
    scheme<kHps4096821>("ntruhps4096821", "NTRU-HPS-4096-821", 5),
    scheme<kHrss701>("ntruhrss701", "NTRU-HRSS-701", 3),
    scheme<kHps40961229>("ntruhps40961229", "NTRU-HPS-4096-1229", 5),
    scheme<kHrss1373>("ntruhrss1373", "NTRU-HRSS-1373", 5),
};

}  // namespace

std::span<const Scheme> schemes() { return kSchemes; }

}  // namespace polykem::ntru
