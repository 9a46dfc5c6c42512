// SPDX-License-Identifier: Apache-2.0
#include "schemes/mldsa/mldsa.hpp"

#include "schemes/built_backends.hpp"
#include "schemes/mldsa/backend.hpp"
#include "schemes/mldsa/mu.hpp"
#include "schemes/mldsa/public_key.hpp"
#include "schemes/mldsa/ref/portable.hpp"
#include "schemes/mldsa/vector_backends.hpp"

namespace polykem::mldsa {

namespace {

/// The backends of set P.
template <MldsaParams P>
struct SetBackends {
  static SchemeBackend avx512() { return avx512_backend<P>(); }
  static SchemeBackend avx2() { return avx2_backend<P>(); }
  static SchemeBackend neon_sha3() { return neon_sha3_backend<P>(); }
  static SchemeBackend neon() { return neon_backend<P>(); }
  static SchemeBackend ref() { return backend<P, ref::Portable>(); }
};

template <MldsaParams P>
Scheme scheme(const char* name, const char* title, uint32_t category) {
  return {.name = name,
          .family = "mldsa",
          .title = title,
          .aliases = {},
          .security_category = category,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .signature_bytes = P.signature_bytes(),
          .keygen_coin_bytes = kSeedBytes,
          .sign_coin_bytes = kSeedBytes,
          .public_key_of = public_key_of<P>,
          .mu = mu<P>,
          .stages = {kKeygenStages, {}, {}, kSignStages, kVerifyStages},
          .secret_seeds = true,
          .backends = built_backends<SetBackends<P>>()};
}

}  // namespace

std::span<const Scheme> schemes() {
  static const Scheme all[] = {
      scheme<kMldsa44>("mldsa44", "ML-DSA-44", 2),
      scheme<kMldsa65>("mldsa65", "ML-DSA-65", 3),
      scheme<kMldsa87>("mldsa87", "ML-DSA-87", 5),
  };
  return all;
}

}  // namespace polykem::mldsa
