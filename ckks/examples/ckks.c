/* SPDX-License-Identifier: Apache-2.0 */
/* The mean and the variance of numbers that whoever computes them never sees. */
#include <polykem/ckks.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 1024
#define LIMBS 3
#define SCALE 0x1p40

static void check(polykem_ckks_status status) {
  if (status == POLYKEM_CKKS_OK) return;
  fprintf(stderr, "ckks: %s\n", polykem_ckks_error_text());
  exit(1);
}

static polykem_ckks_context* make_context(void) {
  uint64_t q[LIMBS], p;
  polykem_ckks_context* context;
  check(polykem_ckks_find_primes(13, 50, 1, NULL, 0, q));
  check(polykem_ckks_find_primes(13, 40, LIMBS - 1, q, 1, q + 1));
  check(polykem_ckks_find_primes(13, 52, 1, q, LIMBS, &p));
  const polykem_ckks_parameters parameters = {
      .struct_size = sizeof parameters, .log_n = 13, .q_count = LIMBS, .q = q, .p_count = 1, .p = &p, .digits = LIMBS};
  check(polykem_ckks_context_new(&parameters, &context));
  return context;
}

/* Every slot becomes the sum of all: it is added to itself, moved by 1, 2, 4, ... slots. */
static void sum_slots(const polykem_ckks_context* context, const polykem_ckks_secret_key* secret,
                      polykem_ckks_ciphertexts** c) {
  for (long steps = 1; steps < COUNT; steps *= 2) {
    const uint64_t g = polykem_ckks_rotation_element(context, steps);
    polykem_ckks_switching_key* key; /* the owner of the secret key makes these once */
    polykem_ckks_ciphertexts *moved, *sum;
    check(polykem_ckks_automorphism_key_generate(context, secret, g, &key));
    check(polykem_ckks_automorphism(context, *c, g, key, &moved));
    check(polykem_ckks_combine(context, POLYKEM_CKKS_ADD, *c, moved, &sum));
    polykem_ckks_switching_key_free(key);
    polykem_ckks_ciphertexts_free(moved);
    polykem_ckks_ciphertexts_free(*c);
    *c = sum;
  }
}

static polykem_ckks_ciphertexts* squared(const polykem_ckks_context* context, const polykem_ckks_secret_key* secret,
                                         const polykem_ckks_ciphertexts* c) {
  polykem_ckks_switching_key* key;
  polykem_ckks_ciphertexts *product, *relinearised, *rescaled;
  check(polykem_ckks_relinearisation_key_generate(context, secret, &key));
  check(polykem_ckks_combine(context, POLYKEM_CKKS_MUL, c, c, &product));
  check(polykem_ckks_relinearise(context, product, key, &relinearised));
  check(polykem_ckks_rescale(context, relinearised, &rescaled));
  polykem_ckks_switching_key_free(key);
  polykem_ckks_ciphertexts_free(product);
  polykem_ckks_ciphertexts_free(relinearised);
  return rescaled;
}

/* The first slot, which only the owner of the secret key can read. */
static double reveal(const polykem_ckks_context* context, const polykem_ckks_secret_key* secret,
                     const polykem_ckks_ciphertexts* c) {
  static double values[2 * COUNT];
  polykem_ckks_plaintexts* plaintext;
  check(polykem_ckks_decrypt(context, secret, c, &plaintext));
  check(polykem_ckks_decode(context, plaintext, values, COUNT));
  polykem_ckks_plaintexts_free(plaintext);
  return values[0];
}

int main(void) {
  static double values[2 * COUNT]; /* real and imaginary parts */
  for (int i = 0; i < COUNT; ++i)
    values[2 * i] = (double)i / COUNT;
  polykem_ckks_context* const context = make_context();
  polykem_ckks_secret_key* secret;
  polykem_ckks_public_key* key;
  polykem_ckks_plaintexts* plaintext;
  polykem_ckks_ciphertexts* sum;
  check(polykem_ckks_secret_key_generate(context, &secret));
  check(polykem_ckks_public_key_generate(context, secret, &key));
  check(polykem_ckks_encode(context, values, 1, COUNT, LIMBS, SCALE, &plaintext));
  check(polykem_ckks_encrypt(context, key, plaintext, &sum));

  polykem_ckks_ciphertexts* squares = squared(context, secret, sum);
  sum_slots(context, secret, &sum);
  sum_slots(context, secret, &squares);
  const double mean = reveal(context, secret, sum) / COUNT;
  const double variance = reveal(context, secret, squares) / COUNT - mean * mean;
  printf("mean %.6f, variance %.6f\n", mean, variance);

  polykem_ckks_ciphertexts_free(sum);
  polykem_ckks_ciphertexts_free(squares);
  polykem_ckks_plaintexts_free(plaintext);
  polykem_ckks_public_key_free(key);
  polykem_ckks_secret_key_free(secret);
  polykem_ckks_context_free(context);
  return 0;
}
