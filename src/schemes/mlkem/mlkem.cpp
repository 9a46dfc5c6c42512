// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/mlkem.hpp"

#include "core/cpu_features.hpp"
#include "schemes/built_backends.hpp"
#include "schemes/mlkem/ref/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

/// The backends of set P.
template <MlkemParams P>
struct SetBackends {
  using Cpu = tuning::Cpu;
  static SchemeBackend avx512() {
    return kCpuIsZen5 ? avx512_backend<P, Cpu::kAvx512Zen5>() : avx512_backend<P, Cpu::kAvx512>();
  }
  static SchemeBackend avx2() {
    return kCpuByIntel ? avx2_backend<P, Cpu::kAvx2Intel>() : avx2_backend<P, Cpu::kAvx2>();
  }
  static SchemeBackend neon_sha3() { return neon_sha3_backend<P>(); }
  static SchemeBackend neon() { return neon_backend<P>(); }
  static SchemeBackend ref() { return ref::backend<P>(); }
};

template <MlkemParams P>
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
          .keygen_coin_bytes = kKeygenCoinBytes,
          .encaps_coin_bytes = kEncapsCoinBytes,
          .public_key_at = P.pk_offset(),
          .stages = kStages,
          .secret_seeds = !P.kyber(),
          .backends = built_backends<SetBackends<P>>()};
}

}  // namespace

std::span<const Scheme> schemes() {
  static const Scheme all[] = {
      scheme<kMlkem512>("mlkem512", "ML-KEM-512", 1),    scheme<kMlkem768>("mlkem768", "ML-KEM-768", 3),
      scheme<kMlkem1024>("mlkem1024", "ML-KEM-1024", 5), scheme<kKyber512>("kyber512", "Kyber512", 1),
      scheme<kKyber768>("kyber768", "Kyber768", 3),      scheme<kKyber1024>("kyber1024", "Kyber1024", 5),
  };
  return all;
}

}  // namespace polykem::mlkem
