// SPDX-License-Identifier: Apache-2.0
// Functions that need wolfSSL's headers: the size of its key objects, and leaving out instructions.
#include <wolfssl/wolfcrypt/cpuid.h>
#include <wolfssl/wolfcrypt/wc_frodokem.h>
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#include <wolfssl/wolfcrypt/wc_mlkem.h>

const size_t polykem_wolfssl_mlkem_key_bytes = sizeof(MlKemKey);
const size_t polykem_wolfssl_frodo_key_bytes = sizeof(FrodoKemKey);
const size_t polykem_wolfssl_mldsa_key_bytes = sizeof(wc_MlDsaKey);

void polykem_wolfssl_leave_out_avx512(void);
void polykem_wolfssl_leave_out_avx512(void) {
  (void)cpuid_get_flags();  // finds them, once
  cpuid_clear_flag(CPUID_AVX512 | CPUID_AVX512_VBMI | CPUID_AVX512_VBMI2 | CPUID_AVX512_IFMA | CPUID_AVX512_VL |
                   CPUID_AVX512_DQ | CPUID_AVX512_BW);
}
