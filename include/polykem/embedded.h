/* SPDX-License-Identifier: Apache-2.0 */
/* polykem on a microcontroller: one item at a time, without a heap, threads or an operating system.
 *
 *  - All memory is the caller's: records, and a workspace whose size is a constant of the set (..._WORKSPACE_BYTES). A
 *    call takes at most ..._STACK_BYTES of stack, without the random function's own, with the code for the Cortex-M4
 *    compiled by GCC 12 at -O2; other builds (POLYKEM_CORTEX_M4_KERNELS=OFF) may take more. There are no other
 *    variables in memory.
 *  - Records are those of polykem.h, byte for byte. They need no alignment. Outputs must not overlap inputs, each other
 *    or the workspace.
 *  - Random bytes come from the caller's function. The library has no generator: give it a good source, such as a
 *    hardware generator behind a DRBG.
 *  - After every call the workspace is zero. On a Cortex-M4 so is the stack that the call used, up to STACK_BYTES, and
 *    no register holds a secret. The library does not clear what the random function and interrupts leave on the
 *    stack.
 *  - A call that does not return POLYKEM_EMBEDDED_OK has zeroed its outputs, except with POLYKEM_EMBEDDED_ERR_ARGUMENT:
 *    then it has written nothing.
 *  - A ciphertext that does not decapsulate is not an error: the secret is the scheme's rejection secret, computed in
 *    constant time.
 *  - Calls with different workspaces may interrupt each other. On a Cortex-M4 they keep words in floating-point
 *    registers: the unit must be on (CPACR), and interrupts must save these registers, as the processor does after
 *    reset (ASPEN in FPCCR). Under an RTOS, tasks that call the library must be declared as using them.
 *  - A set that the program does not name is not linked.
 */
#ifndef POLYKEM_EMBEDDED_H
#define POLYKEM_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The status of a call. The values are those of polykem_status. */
typedef enum polykem_embedded_status {
  POLYKEM_EMBEDDED_OK = 0,
  POLYKEM_EMBEDDED_ERR_ARGUMENT = 1,   /* a NULL pointer, or a workspace that is too small or not aligned */
  POLYKEM_EMBEDDED_ERR_RANDOM = 6,     /* the caller's function failed */
  POLYKEM_EMBEDDED_ERR_PUBLIC_KEY = 8, /* the public key is malformed (ML-KEM) */
  POLYKEM_EMBEDDED_ERR_SECRET_KEY = 9  /* the secret key is malformed (ML-KEM) */
} polykem_embedded_status;

/* Writes `bytes` random bytes to `out` and returns 0; any other value fails the operation. Keygen and encaps call it
 * once, before anything else, for all their coins, in the order of the known-answer tests. */
typedef int (*polykem_embedded_random)(void* context, uint8_t* out, size_t bytes);

/* One parameter set. All sizes are in bytes. */
typedef struct polykem_embedded_set {
  const char* name; /* "mlkem768" */
  size_t public_key_bytes, secret_key_bytes, ciphertext_bytes, shared_secret_bytes;
  size_t keygen_coin_bytes; /* random bytes that keygen takes */
  size_t encaps_coin_bytes; /* random bytes that encaps takes */
  size_t keygen_workspace_bytes, encaps_workspace_bytes, decaps_workspace_bytes;
  size_t workspace_bytes;                   /* enough for any operation: the largest of the three */
  size_t stack_bytes;                       /* the most stack that an operation takes on a Cortex-M4 */
  const struct polykem_embedded_code* code; /* internal to the library */
} polykem_embedded_set;

extern const polykem_embedded_set polykem_embedded_ntruhps2048509;
extern const polykem_embedded_set polykem_embedded_ntruhps2048677;
extern const polykem_embedded_set polykem_embedded_ntruhps4096821;
extern const polykem_embedded_set polykem_embedded_ntruhrss701;
extern const polykem_embedded_set polykem_embedded_mlkem512;
extern const polykem_embedded_set polykem_embedded_mlkem768;
extern const polykem_embedded_set polykem_embedded_mlkem1024;
extern const polykem_embedded_set polykem_embedded_frodokem640shake;
extern const polykem_embedded_set polykem_embedded_frodokem640aes;

/* Memory that an operation may use. begin is aligned to POLYKEM_EMBEDDED_ALIGNMENT; bytes is at least the set's
 * ..._workspace_bytes of that operation. Memory beyond it is not touched. */
typedef struct polykem_embedded_workspace {
  void* begin;
  size_t bytes;
} polykem_embedded_workspace;

#define POLYKEM_EMBEDDED_ALIGNMENT 64

/* Makes a key pair. pk, sk: one record each. */
polykem_embedded_status polykem_embedded_keygen(const polykem_embedded_set* set, uint8_t* pk, uint8_t* sk,
                                                polykem_embedded_random random, void* random_context,
                                                polykem_embedded_workspace workspace);

/* Encapsulates a new shared secret to a public key. ct, ss, pk: one record each. POLYKEM_EMBEDDED_ERR_PUBLIC_KEY if the
 * set's standard refuses the key. */
polykem_embedded_status polykem_embedded_encaps(const polykem_embedded_set* set, uint8_t* ct, uint8_t* ss,
                                                const uint8_t* pk, polykem_embedded_random random, void* random_context,
                                                polykem_embedded_workspace workspace);

/* Decapsulates. ss, ct, sk: one record each. POLYKEM_EMBEDDED_ERR_SECRET_KEY if the set's standard refuses the key. */
polykem_embedded_status polykem_embedded_decaps(const polykem_embedded_set* set, uint8_t* ss, const uint8_t* ct,
                                                const uint8_t* sk, polykem_embedded_workspace workspace);

/* ---- the sizes of each set as constants, in bytes -------------------------------------------------------- */

#define POLYKEM_EMBEDDED_NTRUHPS2048509_PUBLIC_KEY_BYTES 699
#define POLYKEM_EMBEDDED_NTRUHPS2048509_SECRET_KEY_BYTES 935
#define POLYKEM_EMBEDDED_NTRUHPS2048509_CIPHERTEXT_BYTES 699
#define POLYKEM_EMBEDDED_NTRUHPS2048509_SHARED_SECRET_BYTES 32
#define POLYKEM_EMBEDDED_NTRUHPS2048509_KEYGEN_WORKSPACE_BYTES 11776
#define POLYKEM_EMBEDDED_NTRUHPS2048509_ENCAPS_WORKSPACE_BYTES 9728
#define POLYKEM_EMBEDDED_NTRUHPS2048509_DECAPS_WORKSPACE_BYTES 9728
#define POLYKEM_EMBEDDED_NTRUHPS2048509_WORKSPACE_BYTES 11776
#define POLYKEM_EMBEDDED_NTRUHPS2048509_STACK_BYTES 2304

#define POLYKEM_EMBEDDED_NTRUHPS2048677_PUBLIC_KEY_BYTES 930
#define POLYKEM_EMBEDDED_NTRUHPS2048677_SECRET_KEY_BYTES 1234
#define POLYKEM_EMBEDDED_NTRUHPS2048677_CIPHERTEXT_BYTES 930
#define POLYKEM_EMBEDDED_NTRUHPS2048677_SHARED_SECRET_BYTES 32
#define POLYKEM_EMBEDDED_NTRUHPS2048677_KEYGEN_WORKSPACE_BYTES 15936
#define POLYKEM_EMBEDDED_NTRUHPS2048677_ENCAPS_WORKSPACE_BYTES 13248
#define POLYKEM_EMBEDDED_NTRUHPS2048677_DECAPS_WORKSPACE_BYTES 13248
#define POLYKEM_EMBEDDED_NTRUHPS2048677_WORKSPACE_BYTES 15936
#define POLYKEM_EMBEDDED_NTRUHPS2048677_STACK_BYTES 2304

#define POLYKEM_EMBEDDED_NTRUHPS4096821_PUBLIC_KEY_BYTES 1230
#define POLYKEM_EMBEDDED_NTRUHPS4096821_SECRET_KEY_BYTES 1590
#define POLYKEM_EMBEDDED_NTRUHPS4096821_CIPHERTEXT_BYTES 1230
#define POLYKEM_EMBEDDED_NTRUHPS4096821_SHARED_SECRET_BYTES 32
#define POLYKEM_EMBEDDED_NTRUHPS4096821_KEYGEN_WORKSPACE_BYTES 19072
#define POLYKEM_EMBEDDED_NTRUHPS4096821_ENCAPS_WORKSPACE_BYTES 15744
#define POLYKEM_EMBEDDED_NTRUHPS4096821_DECAPS_WORKSPACE_BYTES 15808
#define POLYKEM_EMBEDDED_NTRUHPS4096821_WORKSPACE_BYTES 19072
#define POLYKEM_EMBEDDED_NTRUHPS4096821_STACK_BYTES 2304

#define POLYKEM_EMBEDDED_NTRUHRSS701_PUBLIC_KEY_BYTES 1138
#define POLYKEM_EMBEDDED_NTRUHRSS701_SECRET_KEY_BYTES 1450
#define POLYKEM_EMBEDDED_NTRUHRSS701_CIPHERTEXT_BYTES 1138
#define POLYKEM_EMBEDDED_NTRUHRSS701_SHARED_SECRET_BYTES 32
#define POLYKEM_EMBEDDED_NTRUHRSS701_KEYGEN_WORKSPACE_BYTES 16192
#define POLYKEM_EMBEDDED_NTRUHRSS701_ENCAPS_WORKSPACE_BYTES 13376
#define POLYKEM_EMBEDDED_NTRUHRSS701_DECAPS_WORKSPACE_BYTES 13376
#define POLYKEM_EMBEDDED_NTRUHRSS701_WORKSPACE_BYTES 16192
#define POLYKEM_EMBEDDED_NTRUHRSS701_STACK_BYTES 2304

#define POLYKEM_EMBEDDED_MLKEM512_PUBLIC_KEY_BYTES 800
#define POLYKEM_EMBEDDED_MLKEM512_SECRET_KEY_BYTES 1632
#define POLYKEM_EMBEDDED_MLKEM512_CIPHERTEXT_BYTES 768
#define POLYKEM_EMBEDDED_MLKEM512_SHARED_SECRET_BYTES 32
#define POLYKEM_EMBEDDED_MLKEM512_KEYGEN_WORKSPACE_BYTES 2752
#define POLYKEM_EMBEDDED_MLKEM512_ENCAPS_WORKSPACE_BYTES 2752
#define POLYKEM_EMBEDDED_MLKEM512_DECAPS_WORKSPACE_BYTES 2752
#define POLYKEM_EMBEDDED_MLKEM512_WORKSPACE_BYTES 2752
#define POLYKEM_EMBEDDED_MLKEM512_STACK_BYTES 1120

#define POLYKEM_EMBEDDED_MLKEM768_PUBLIC_KEY_BYTES 1184
#define POLYKEM_EMBEDDED_MLKEM768_SECRET_KEY_BYTES 2400
#define POLYKEM_EMBEDDED_MLKEM768_CIPHERTEXT_BYTES 1088
#define POLYKEM_EMBEDDED_MLKEM768_SHARED_SECRET_BYTES 32
#define POLYKEM_EMBEDDED_MLKEM768_KEYGEN_WORKSPACE_BYTES 4032
#define POLYKEM_EMBEDDED_MLKEM768_ENCAPS_WORKSPACE_BYTES 4032
#define POLYKEM_EMBEDDED_MLKEM768_DECAPS_WORKSPACE_BYTES 4032
#define POLYKEM_EMBEDDED_MLKEM768_WORKSPACE_BYTES 4032
#define POLYKEM_EMBEDDED_MLKEM768_STACK_BYTES 1120

#define POLYKEM_EMBEDDED_MLKEM1024_PUBLIC_KEY_BYTES 1568
#define POLYKEM_EMBEDDED_MLKEM1024_SECRET_KEY_BYTES 3168
#define POLYKEM_EMBEDDED_MLKEM1024_CIPHERTEXT_BYTES 1568
#define POLYKEM_EMBEDDED_MLKEM1024_SHARED_SECRET_BYTES 32
#define POLYKEM_EMBEDDED_MLKEM1024_KEYGEN_WORKSPACE_BYTES 5312
#define POLYKEM_EMBEDDED_MLKEM1024_ENCAPS_WORKSPACE_BYTES 5312
#define POLYKEM_EMBEDDED_MLKEM1024_DECAPS_WORKSPACE_BYTES 5312
#define POLYKEM_EMBEDDED_MLKEM1024_WORKSPACE_BYTES 5312
#define POLYKEM_EMBEDDED_MLKEM1024_STACK_BYTES 1120

#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_PUBLIC_KEY_BYTES 9616
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_SECRET_KEY_BYTES 19888
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_CIPHERTEXT_BYTES 9752
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_SHARED_SECRET_BYTES 16
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_KEYGEN_WORKSPACE_BYTES 15552
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_ENCAPS_WORKSPACE_BYTES 26112
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_DECAPS_WORKSPACE_BYTES 26112
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_WORKSPACE_BYTES 26112
#define POLYKEM_EMBEDDED_FRODOKEM640SHAKE_STACK_BYTES 1280

#define POLYKEM_EMBEDDED_FRODOKEM640AES_PUBLIC_KEY_BYTES 9616
#define POLYKEM_EMBEDDED_FRODOKEM640AES_SECRET_KEY_BYTES 19888
#define POLYKEM_EMBEDDED_FRODOKEM640AES_CIPHERTEXT_BYTES 9752
#define POLYKEM_EMBEDDED_FRODOKEM640AES_SHARED_SECRET_BYTES 16
#define POLYKEM_EMBEDDED_FRODOKEM640AES_KEYGEN_WORKSPACE_BYTES 15552
#define POLYKEM_EMBEDDED_FRODOKEM640AES_ENCAPS_WORKSPACE_BYTES 26112
#define POLYKEM_EMBEDDED_FRODOKEM640AES_DECAPS_WORKSPACE_BYTES 26112
#define POLYKEM_EMBEDDED_FRODOKEM640AES_WORKSPACE_BYTES 26112
#define POLYKEM_EMBEDDED_FRODOKEM640AES_STACK_BYTES 1280

#ifdef __cplusplus
}
#endif

#endif
