// SPDX-License-Identifier: Apache-2.0
// The set that a program is compiled for, memory for one item of it, and bytes that look random.
#pragma once

#include <polykem/embedded.h>

#define POLYKEM_BENCH_CONSTANT_OF(SET, OF) POLYKEM_EMBEDDED_##SET##_##OF##_BYTES
#define POLYKEM_BENCH_CONSTANT_IN(SET, OF) POLYKEM_BENCH_CONSTANT_OF(SET, OF)
#define POLYKEM_BENCH_CONSTANT(OF) POLYKEM_BENCH_CONSTANT_IN(POLYKEM_BENCH_SET_UPPER, OF)
#define POLYKEM_BENCH_NAME_OF(SET) polykem_embedded_##SET
#define POLYKEM_BENCH_NAME(SET) POLYKEM_BENCH_NAME_OF(SET)

enum {
  kPublicKey = POLYKEM_BENCH_CONSTANT(PUBLIC_KEY),
  kSecretKey = POLYKEM_BENCH_CONSTANT(SECRET_KEY),
  kCiphertext = POLYKEM_BENCH_CONSTANT(CIPHERTEXT),
  kSharedSecret = POLYKEM_BENCH_CONSTANT(SHARED_SECRET),
};

static const polykem_embedded_set* const set = &POLYKEM_BENCH_NAME(POLYKEM_BENCH_SET);
static uint8_t pk[kPublicKey], sk[kSecretKey], ct[kCiphertext], ss[kSharedSecret], partners_ss[kSharedSecret];
static _Alignas(POLYKEM_EMBEDDED_ALIGNMENT) uint8_t memory[POLYKEM_BENCH_CONSTANT(WORKSPACE)];
static const polykem_embedded_workspace workspace = {memory, sizeof memory};
static uint32_t random_state = 2463534242u;

/* Marsaglia's xorshift generator: any bytes will do. */
static int random_bytes(void* context, uint8_t* out, size_t bytes) {
  (void)context;
  uint32_t x = random_state;
  for (size_t i = 0; i < bytes; ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    out[i] = (uint8_t)(x >> 11);
  }
  random_state = x;
  return 0;
}

/* A function that a profile can tell apart from its callers. */
#define POLYKEM_BENCH_FUNCTION __attribute__((noinline, noclone)) static

POLYKEM_BENCH_FUNCTION void keygen(void) {
  polykem_embedded_keygen(set, pk, sk, random_bytes, NULL, workspace);
}
POLYKEM_BENCH_FUNCTION void encaps(void) {
  polykem_embedded_encaps(set, ct, partners_ss, pk, random_bytes, NULL, workspace);
}
POLYKEM_BENCH_FUNCTION void decaps(void) {
  polykem_embedded_decaps(set, ss, ct, sk, workspace);
}
