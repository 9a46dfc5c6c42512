// SPDX-License-Identifier: Apache-2.0
#include "schemes/saber/saber.hpp"

#include "schemes/built_backends.hpp"
#include "schemes/saber/ref/backend.hpp"
#include "schemes/saber/vector_backends.hpp"

namespace polykem::saber {

namespace {

/// The backends of set P.
template <SaberParams P>
struct SetBackends {
  static SchemeBackend avx512() { return avx512_backend<P>(); }
  static SchemeBackend avx2() { return avx2_backend<P>(); }
  static SchemeBackend neon_sha3() { return neon_sha3_backend<P>(); }
  static SchemeBackend neon() { return neon_backend<P>(); }
  static SchemeBackend ref() { return ref::backend<P>(); }
};

template <SaberParams P>
Scheme scheme(const char* name, const char* title, uint32_t category) {
  return {.name = name,
          .family = "saberkem",
          .title = title,
          .aliases = {},
          .security_category = category,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .ciphertext_bytes = P.ciphertext_bytes(),
          .shared_secret_bytes = kSymBytes,
          .keygen_coin_bytes = kKeygenCoinBytes,
          .encaps_coin_bytes = kEncapsCoinBytes,
          .public_key_at = P.pk_offset(),
          .stages = kStages,
          .backends = built_backends<SetBackends<P>>()};
}

}  // namespace

std::span<const Scheme> schemes() {
  static const Scheme all[] = {scheme<kLightSaber>("lightsaber", "LightSaber", 1), scheme<kSaber>("saber", "Saber", 3),
                               scheme<kFireSaber>("firesaber", "FireSaber", 5)};
  return all;
}

}  // namespace polykem::saber
