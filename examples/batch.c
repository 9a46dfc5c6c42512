/* SPDX-License-Identifier: Apache-2.0
 *
 * Key exchange with eight clients at once, in C. One process plays both sides, so that you can read it from top to
 * bottom: clients make key pairs, the server encapsulates to all of them in one call, the clients decapsulate.
 *
 *   cc batch.c $(pkg-config --cflags --libs polykem) -o batch && ./batch
 */
#include <polykem/polykem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kClients = 8 };

/* Every call returns a status; polykem never aborts and never prints. The program decides what to do about an error. */
static void must(polykem_status status, const char* what) {
  if (status == POLYKEM_OK) return;
  fprintf(stderr, "%s: %s\n", what, polykem_status_text(status));
  exit(1);
}

static void* buffer(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (memory == NULL) must(POLYKEM_ERR_OUT_OF_MEMORY, "buffer");
  return memory;
}

int main(void) {
  /* A parameter set, found by name, and the sizes of its records. */
  const polykem_scheme* scheme = NULL;
  polykem_scheme_info_t info = {.struct_size = sizeof info};
  must(polykem_scheme_find("mlkem768", &scheme), "find the parameter set");
  must(polykem_scheme_info(scheme, &info), "read its sizes");

  /* A context has the threads and the random generator. Make one and keep it; NULL means the defaults. */
  polykem_context* context = NULL;
  must(polykem_context_new(NULL, &context), "make a context");

  /* A batch is an array of fixed-size records: the key of client i starts at i * public_key_bytes. */
  uint8_t* pk = buffer(kClients * info.public_key_bytes);
  uint8_t* sk = buffer(kClients * info.secret_key_bytes);
  uint8_t* ct = buffer(kClients * info.ciphertext_bytes);
  uint8_t* server_secret = buffer(kClients * info.shared_secret_bytes);
  uint8_t* client_secret = buffer(kClients * info.shared_secret_bytes);

  must(polykem_keygen(context, scheme, kClients, pk, sk), "make key pairs");

  /* POLYKEM_KEY_PER_ITEM: every client has a key of its own. If one item were malformed, the call would return
   * POLYKEM_ERR_ITEMS after finishing the others, and this array would say which one it was. */
  polykem_status each[kClients];
  must(polykem_encaps(context, scheme, kClients, POLYKEM_KEY_PER_ITEM, pk, ct, server_secret, each), "encapsulate");
  must(polykem_decaps(context, scheme, kClients, POLYKEM_KEY_PER_ITEM, sk, ct, client_secret, each), "decapsulate");

  int equal = 0;
  for (size_t i = 0; i < kClients; ++i) {
    const size_t at = i * info.shared_secret_bytes;
    equal += memcmp(server_secret + at, client_secret + at, info.shared_secret_bytes) == 0;
  }
  printf("%s on backend %s: %d of %d shared secrets are equal\n", info.title, polykem_context_backend(context, scheme),
         equal, kClients);

  /* Secrets leave memory when they are no longer needed. A plain memset may be optimised away; this is not. */
  polykem_zeroize(sk, kClients * info.secret_key_bytes);
  polykem_zeroize(server_secret, kClients * info.shared_secret_bytes);
  polykem_zeroize(client_secret, kClients * info.shared_secret_bytes);
  free(pk);
  free(sk);
  free(ct);
  free(server_secret);
  free(client_secret);
  polykem_context_free(context);
  return equal == kClients ? 0 : 1;
}
