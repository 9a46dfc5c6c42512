// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/mlkem.hpp"

#include "schemes/built_backends.hpp"
#include "schemes/mlkem/ref/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

/// The backends of set P, which the vector backends know by its number.
template <MlkemParams P, size_t kNumber>
struct SetBackends {
  static SchemeBackend avx512() { return avx512_backends()[kNumber]; }
  static SchemeBackend avx2() { return avx2_backends()[kNumber]; }
  static SchemeBackend ref() { return ref::backend<P>(); }
};

template <MlkemParams P, size_t kNumber>
Scheme scheme(const char* name, const char* title, uint32_t category) {
  return {.name = name,
          .family = "mlkem",
          .title = title,
          .aliases = {},
          .security_category = category,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .ciphertext_bytes = P.ciphertext_bytes(),
          .shared_secret_bytes = kSymBytes,
          .keygen_draw_bytes = kKeygenDrawBytes,
          .encaps_draw_bytes = kEncapsDrawBytes,
          .secret_seeds = !P.kyber(),
          .backends = built_backends<SetBackends<P, kNumber>>()};
}

}  // namespace

std::span<const Scheme> schemes() {
  static const Scheme all[] = {
      scheme<kMlkem512, 0>("mlkem512", "ML-KEM-512", 1),    scheme<kMlkem768, 1>("mlkem768", "ML-KEM-768", 3),
      scheme<kMlkem1024, 2>("mlkem1024", "ML-KEM-1024", 5), scheme<kKyber512, 3>("kyber512", "Kyber512", 1),
      scheme<kKyber768, 4>("kyber768", "Kyber768", 3),      scheme<kKyber1024, 5>("kyber1024", "Kyber1024", 5),
  };
  return all;
}

}  // namespace polykem::mlkem
