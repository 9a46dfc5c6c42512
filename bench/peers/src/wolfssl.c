// SPDX-License-Identifier: Apache-2.0
// How much memory wolfSSL's key objects take, which its headers alone know.
#include <wolfssl/wolfcrypt/wc_frodokem.h>
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#include <wolfssl/wolfcrypt/wc_mlkem.h>

const size_t polykem_wolfssl_mlkem_key_bytes = sizeof(MlKemKey);
const size_t polykem_wolfssl_frodo_key_bytes = sizeof(FrodoKemKey);
const size_t polykem_wolfssl_mldsa_key_bytes = sizeof(wc_MlDsaKey);
