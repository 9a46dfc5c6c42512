// SPDX-License-Identifier: Apache-2.0
// A key exchange on a board: a device with a key pair, and a partner that encapsulates to it. One program plays both
// sides, so that you can read it from top to bottom. All memory is static.
#include <polykem/embedded.h>
#include <string.h>

#include "board/semihosting.h"
#include "example/random.h"

static uint8_t public_key[POLYKEM_EMBEDDED_MLKEM768_PUBLIC_KEY_BYTES];
static uint8_t secret_key[POLYKEM_EMBEDDED_MLKEM768_SECRET_KEY_BYTES];
static uint8_t ciphertext[POLYKEM_EMBEDDED_MLKEM768_CIPHERTEXT_BYTES];
static uint8_t secret[POLYKEM_EMBEDDED_MLKEM768_SHARED_SECRET_BYTES];
static uint8_t partners_secret[POLYKEM_EMBEDDED_MLKEM768_SHARED_SECRET_BYTES];

/* The workspace of all operations; between them it may be used for something else. */
static _Alignas(POLYKEM_EMBEDDED_ALIGNMENT) uint8_t memory[POLYKEM_EMBEDDED_MLKEM768_WORKSPACE_BYTES];

static int failed(const char* what) {
  semihosting_write(what);
  semihosting_write(" failed\n");
  return 1;
}

int main(void) {
  const polykem_embedded_workspace workspace = {memory, sizeof memory};

  if (polykem_embedded_keygen(&polykem_embedded_mlkem768, public_key, secret_key, random_bytes, NULL, workspace) != 0)
    return failed("keygen");

  /* The partner gets the public key, and sends the ciphertext back. */
  if (polykem_embedded_encaps(&polykem_embedded_mlkem768, ciphertext, partners_secret, public_key, random_bytes, NULL,
                              workspace) != 0)
    return failed("encaps");

  if (polykem_embedded_decaps(&polykem_embedded_mlkem768, secret, ciphertext, secret_key, workspace) != 0)
    return failed("decaps");

  if (memcmp(secret, partners_secret, sizeof secret) != 0) return failed("the exchange");
  semihosting_write("both sides have the same secret\n");
  return 0;
}
