/* SPDX-License-Identifier: Apache-2.0 */
/* wolfSSL's user_settings.h for the benchmark, with all assembly, chosen at run time. */
#define WOLFCRYPT_ONLY
#define USE_INTEL_SPEEDUP
#define WOLFSSL_AESNI
#define WOLFSSL_EXPERIMENTAL_SETTINGS
#define HAVE_AES_ECB
#define WOLFSSL_AES_DIRECT
#define WOLFSSL_SHA3
#define WOLFSSL_SHAKE128
#define WOLFSSL_SHAKE256
#define WOLFSSL_HAVE_MLKEM
#define WOLFSSL_MLKEM_KYBER
#define WOLFSSL_MLKEM_NO_ASN1
#define WOLFSSL_HAVE_FRODOKEM
#define WOLFSSL_FRODOKEM_AES
#define WOLFSSL_FRODOKEM_SHAKE
#define WOLFSSL_FRODOKEM_EPHEMERAL
#define WOLFSSL_HAVE_MLDSA
#define WOLFSSL_MLDSA_NO_ASN1
/* A key that is kept holds its matrix and vectors. */
#define WC_MLDSA_CACHE_PRIV_VECTORS
#define WC_MLDSA_CACHE_PUB_VECTORS
#define WC_NO_RNG
#define SINGLE_THREADED
#define NO_DES3
#define NO_DH
#define NO_DSA
#define NO_ERROR_STRINGS
#define NO_FILESYSTEM
#define NO_HMAC
#define NO_MD4
#define NO_MD5
#define NO_PWDBASED
#define NO_RC4
#define NO_RSA
#define NO_SHA
/* FrodoKEM's keys in DER, for tests/interop. */
#ifdef POLYKEM_WOLFSSL_KEY_FILES
#define WC_ENABLE_ASYM_KEY_EXPORT
#define WC_ENABLE_ASYM_KEY_IMPORT
#define NO_CERTS
#else
#define WOLFSSL_FRODOKEM_NO_ASN1
#define NO_ASN
#endif
