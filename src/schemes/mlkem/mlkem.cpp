// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/mlkem.hpp"

#include <array>

#include "schemes/mlkem/ref/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

#ifdef POLYKEM_HAVE_X86
constexpr size_t kBackendsPerSet = 3;
#else
constexpr size_t kBackendsPerSet = 1;
#endif

using Backends = std::array<SchemeBackend, kBackendsPerSet>;

/// All backends of set number `index`, best first.
template <MlkemParams P>
Backends backends([[maybe_unused]] size_t index) {
#ifdef POLYKEM_HAVE_X86
  return {avx512_backends()[index], avx2_backends()[index], ref::backend<P>()};
#else
  return {ref::backend<P>()};
#endif
}

template <MlkemParams P>
Scheme scheme(size_t index, const char* name, const char* title, uint32_t category) {
  static const Backends all = backends<P>(index);
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
          .backends = all};
}

}  // namespace

std::span<const Scheme> schemes() {
  static const Scheme all[] = {
      scheme<kMlkem512>(0, "mlkem512", "ML-KEM-512", 1),    scheme<kMlkem768>(1, "mlkem768", "ML-KEM-768", 3),
      scheme<kMlkem1024>(2, "mlkem1024", "ML-KEM-1024", 5), scheme<kKyber512>(3, "kyber512", "Kyber512", 1),
      scheme<kKyber768>(4, "kyber768", "Kyber768", 3),      scheme<kKyber1024>(5, "kyber1024", "Kyber1024", 5),
  };
  return all;
}

}  // namespace polykem::mlkem
