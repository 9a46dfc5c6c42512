// SPDX-License-Identifier: Apache-2.0
// A key exchange in a thread of Zephyr, with its generator of random numbers.
#include <polykem/embedded.h>
#include <string.h>
#include <zephyr/kernel.h>
#include <zephyr/random/random.h>

static uint8_t public_key[POLYKEM_EMBEDDED_MLKEM768_PUBLIC_KEY_BYTES];
static uint8_t secret_key[POLYKEM_EMBEDDED_MLKEM768_SECRET_KEY_BYTES];
static uint8_t ciphertext[POLYKEM_EMBEDDED_MLKEM768_CIPHERTEXT_BYTES];
static uint8_t secret[POLYKEM_EMBEDDED_MLKEM768_SHARED_SECRET_BYTES];
static uint8_t partners_secret[POLYKEM_EMBEDDED_MLKEM768_SHARED_SECRET_BYTES];
static _Alignas(POLYKEM_EMBEDDED_ALIGNMENT) uint8_t memory[POLYKEM_EMBEDDED_MLKEM768_WORKSPACE_BYTES];

static int random_bytes(void* context, uint8_t* out, size_t bytes) {
  ARG_UNUSED(context);
  return sys_csrand_get(out, bytes);
}

int main(void) {
  const polykem_embedded_set* const set = &polykem_embedded_mlkem768;
  const polykem_embedded_workspace workspace = {memory, sizeof memory};
  if (polykem_embedded_keygen(set, public_key, secret_key, random_bytes, NULL, workspace) != 0 ||
      polykem_embedded_encaps(set, ciphertext, partners_secret, public_key, random_bytes, NULL, workspace) != 0 ||
      polykem_embedded_decaps(set, secret, ciphertext, secret_key, workspace) != 0) {
    printk("an operation failed\n");
    return 0;
  }
  printk("%s\n", memcmp(secret, partners_secret, sizeof secret) == 0 ? "both sides have the same secret" : "different");
  return 0;
}
