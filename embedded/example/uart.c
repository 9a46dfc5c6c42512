// SPDX-License-Identifier: Apache-2.0
// A device that exchanges a key over its UART: it sends a public key of ML-KEM-768, receives a ciphertext, and sends a
// message of 32 bytes, encrypted by XOR with the shared secret, which is used for nothing else. example/partner.py is
// the other side. A product authenticates its messages and its partner.
#include <polykem/embedded.h>

#include "board/semihosting.h"
#include "board/uart.h"
#include "example/random.h"

static uint8_t public_key[POLYKEM_EMBEDDED_MLKEM768_PUBLIC_KEY_BYTES];
static uint8_t secret_key[POLYKEM_EMBEDDED_MLKEM768_SECRET_KEY_BYTES];
static uint8_t ciphertext[POLYKEM_EMBEDDED_MLKEM768_CIPHERTEXT_BYTES];
static uint8_t secret[POLYKEM_EMBEDDED_MLKEM768_SHARED_SECRET_BYTES];
static _Alignas(POLYKEM_EMBEDDED_ALIGNMENT) uint8_t memory[POLYKEM_EMBEDDED_MLKEM768_WORKSPACE_BYTES];

static const uint8_t message[sizeof secret] = "a message from the board";

int main(void) {
  const polykem_embedded_workspace workspace = {memory, sizeof memory};
  uart_open();
  if (polykem_embedded_keygen(&polykem_embedded_mlkem768, public_key, secret_key, random_bytes, NULL, workspace) != 0) {
    semihosting_write("keygen failed\n");
    return 1;
  }
  uart_write(public_key, sizeof public_key);
  uart_read(ciphertext, sizeof ciphertext);
  if (polykem_embedded_decaps(&polykem_embedded_mlkem768, secret, ciphertext, secret_key, workspace) != 0) {
    semihosting_write("decaps failed\n");
    return 1;
  }
  for (size_t i = 0; i < sizeof secret; ++i)
    secret[i] ^= message[i];
  uart_write(secret, sizeof secret);
  return 0;
}
