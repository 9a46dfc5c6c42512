// SPDX-License-Identifier: Apache-2.0
// Operations with different secrets and the same public values, whose traces tools/m4cycles/traces.py compares; and two
// functions that leak.
#include <string.h>

#include "board/semihosting.h"
#include "set.h"

enum { kKeys = 4 };

/* ML-KEM: the matrix is sampled from a seed in the public key, in a time that depends on it. So all keys get the public
 * key of the first one, which leaves secrets that do not belong to it: each decapsulation rejects. */
static int is_mlkem(void) {
  return strncmp(set->name, "mlkem", 5) == 0;
}

/* FrodoKEM: tables make the matrix from a seed in the public key. */
static int is_frodo(void) {
  return strncmp(set->name, "frodo", 5) == 0;
}

static uint8_t first_sk[kSecretKey];

static void share(size_t at, size_t bytes) {
  memcpy(sk + at, first_sk + at, bytes);
}

static void share_public_key(void) {
  enum { kHashBytes = 32, kSeedBytes = 32, kFrodoBytes = 16 };
  if (is_mlkem()) share(kSecretKey - kHashBytes - kSeedBytes - kPublicKey, kPublicKey + kHashBytes);
  if (is_frodo()) {
    share(kFrodoBytes, kPublicKey);
    share(kSecretKey - kFrodoBytes, kFrodoBytes);
  }
}

volatile uint8_t sink, table[256];

__attribute__((noinline, noclone)) void leak_by_branch(const uint8_t* secret) {
  if (*secret & 1) sink = 1;
}
__attribute__((noinline, noclone)) void leak_by_address(const uint8_t* secret) {
  sink = table[*secret];
}

int main(void) {
  keygen();
  memcpy(first_sk, sk, sizeof sk);
  for (int i = 0; i < kKeys; ++i)
    encaps();
  decaps();
  int status = memcmp(ss, partners_ss, sizeof ss) != 0;
  for (int i = 0; i < kKeys; ++i) {  // rejected: a changed ciphertext, then other keys
    ct[i] ^= 1;
    decaps();
    ct[i] ^= 1;
    status |= memcmp(ss, partners_ss, sizeof ss) == 0;
    keygen();
    share_public_key();
    decaps();
  }
  for (uint8_t i = 0; i < kKeys; ++i) {
    leak_by_branch(&i);
    leak_by_address(&i);
  }
  return status;
}
