// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/ntru.hpp"

#include "schemes/built_backends.hpp"
#include "schemes/ntru/ref/backend.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace polykem::ntru {

namespace {

/// The backends of set P.
template <NtruParams P>
struct SetBackends {
  static SchemeBackend amx() { return amx_backend<P>(); }
  static SchemeBackend avx512() { return avx512_backend<P>(); }
  static SchemeBackend avx2() { return avx2_backend<P>(); }
  static SchemeBackend neon_sha3() { return neon_sha3_backend<P>(); }
  static SchemeBackend neon() { return neon_backend<P>(); }
  static SchemeBackend ref() { return ref::kBackend<P>; }
};

template <NtruParams P>
Scheme scheme(const char* name, const char* title, uint32_t category) {
  return {.name = name,
          .family = "ntru",
          .title = title,
          .aliases = {},
          .security_category = category,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .ciphertext_bytes = P.ciphertext_bytes(),
          .shared_secret_bytes = P.kSharedSecretBytes,
          .keygen_coin_bytes = P.keygen_coin_bytes(),
          .encaps_coin_bytes = P.encaps_coin_bytes(),
          .stages = kStages,
          .backends = built_backends<SetBackends<P>>()};
}

}  // namespace

std::span<const Scheme> schemes() {
  static const Scheme all[] = {
      scheme<kHps2048509>("ntruhps2048509", "NTRU-HPS-2048-509", 1),
      scheme<kHps2048677>("ntruhps2048677", "NTRU-HPS-2048-677", 3),
      scheme<kHps4096821>("ntruhps4096821", "NTRU-HPS-4096-821", 5),
      scheme<kHrss701>("ntruhrss701", "NTRU-HRSS-701", 3),
      scheme<kHps40961229>("ntruhps40961229", "NTRU-HPS-4096-1229", 5),
      scheme<kHrss1373>("ntruhrss1373", "NTRU-HRSS-1373", 5),
  };
  return all;
}

}  // namespace polykem::ntru
