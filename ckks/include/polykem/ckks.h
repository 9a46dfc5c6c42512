/* SPDX-License-Identifier: Apache-2.0 */
/* polykem: arithmetic on encrypted numbers in batches (CKKS). The C API of libpolykem_ckks, a library of its own.
 *
 * What holds for every function:
 *  - It returns a polykem_ckks_status, never aborts and never prints. polykem_ckks_error_text() says more about the
 *    last failure of the calling thread. Outputs are untouched on failure.
 *  - Objects are immutable and may be used by several threads at once, unless noted. Each ..._free function accepts
 *    NULL.
 *  - A polynomial modulo one prime is a row: N words below the prime, the values a(psi^(2 bitrev(i) + 1)), i = 0..N-1,
 *    psi a primitive 2N-th root of unity, bitrev of log2(N) bits. These are the rows of OpenFHE's files.
 *  - A batch is ciphertexts that were computed alike: with one number of parts and limbs, one scale. Limbs are the
 *    first primes of q, those that rescaling has left.
 *  - Arrays come with their length, in elements: words, or numbers. One of another length than the object needs is
 *    refused. Functions ..._words report theirs through word_count, unless that is NULL.
 *  - Operations make a new object. One plaintext, or one for each ciphertext, may stand beside a batch. A message of
 *    fewer slots than the other operand's counts as repeated.
 *
 * Publishing decrypted results that an attacker has influenced may reveal the secret key, because they contain the
 * noise (Li and Micciancio, Eurocrypt 2021). Show rounded results, or none.
 */
#ifndef POLYKEM_CKKS_H
#define POLYKEM_CKKS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define POLYKEM_CKKS_API __attribute__((visibility("default")))
#else
#define POLYKEM_CKKS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum polykem_ckks_status {
  POLYKEM_CKKS_OK = 0,
  POLYKEM_CKKS_ERR_ARGUMENT = 1, /* a NULL pointer, a number out of range, objects of different parameter sets */
  POLYKEM_CKKS_ERR_OUT_OF_MEMORY = 5,
  POLYKEM_CKKS_ERR_RANDOM = 6,      /* the operating system gave no entropy */
  POLYKEM_CKKS_ERR_INTERNAL = 14,   /* a defect in polykem; please report it */
  POLYKEM_CKKS_ERR_PARAMETERS = 32, /* no parameter set: moduli, roots or sizes */
  POLYKEM_CKKS_ERR_INSECURE = 33,   /* less than 128 bits of security, and that was not allowed */
  POLYKEM_CKKS_ERR_LEVELS = 34,     /* operands with different numbers of limbs */
  POLYKEM_CKKS_ERR_SCALES = 35,     /* operands with different scales, or a scale that is not below its modulus */
  POLYKEM_CKKS_ERR_PARTS = 36,      /* a product that should have been relinearised first, or the other way round */
  POLYKEM_CKKS_ERR_NO_LEVEL = 37,   /* one limb is left, which rescaling would drop */
  POLYKEM_CKKS_ERR_RESIDUES = 38,   /* words that are not below their prime, or no ternary secret */
  POLYKEM_CKKS_ERR_DEVICE = 39,     /* no such GPU, one that failed, or operands in different places */
  POLYKEM_CKKS_ERR_DECRYPTION = 40, /* coefficients all over the modulus: another key, or numbers beyond the modulus */
  POLYKEM_CKKS_ERR_FORMAT = 41      /* not a file of OpenFHE for CKKS; the text names the place */
} polykem_ckks_status;

/* Returns a sentence that says what was wrong with the last call of this thread that failed, and what to do. It is
 * valid until the thread's next failure. */
POLYKEM_CKKS_API const char* polykem_ckks_error_text(void);

/* ---- parameter sets -------------------------------------------------------------------------------------- */

typedef struct polykem_ckks_context polykem_ckks_context;

typedef struct polykem_ckks_parameters {
  size_t struct_size; /* sizeof(polykem_ckks_parameters) */
  unsigned log_n;     /* N = 2^log_n, 4..16 */
  size_t q_count;     /* primes q, 1 mod 2N and below 2^61; a rescaling drops the last one */
  const uint64_t* q;
  const uint64_t* q_roots; /* primitive 2N-th roots of unity; NULL: the least of each prime */
  size_t p_count; /* special primes of key switching, at most 64; their product is at least half that of a digit's
                     primes. 0: no key switching */
  const uint64_t* p;
  const uint64_t* p_roots;
  unsigned digits;    /* the number of digits into which key switching decomposes q ("dnum"), each but the last of
                         ceil(q_count / digits) primes */
  unsigned threads;   /* threads that compute, at most 1024; 0: at most one per CPU of polykem_cpus, fewer where the
                         work is little */
  int allow_insecure; /* 1: less than 128 bits of security are allowed, for tests */
} polykem_ckks_parameters;

/* Finds `count` primes for q or p: 1 mod 2N, nearest to 2^bits (14..60) on either side by turns, for 60 bits below 2^60
 * only, and none of `taken`. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_find_primes(unsigned log_n, unsigned bits, size_t count,
                                                              const uint64_t* taken, size_t taken_count, uint64_t* out);

POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_context_new(const polykem_ckks_parameters* parameters,
                                                              polykem_ckks_context** out);
POLYKEM_CKKS_API void polykem_ckks_context_free(polykem_ckks_context* context);
/* Return the bits of the product of all primes, the ring dimension N, and 128 or 0 bits of security. */
POLYKEM_CKKS_API double polykem_ckks_modulus_bits(const polykem_ckks_context* context);
POLYKEM_CKKS_API size_t polykem_ckks_ring_dimension(const polykem_ckks_context* context);
POLYKEM_CKKS_API unsigned polykem_ckks_security_bits(const polykem_ckks_context* context);
/* Gives prime and root number i. Those of q come first, then those of p. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_prime(const polykem_ckks_context* context, size_t i, uint64_t* prime,
                                                        uint64_t* root);

/* ---- messages -------------------------------------------------------------------------------------------- */

typedef struct polykem_ckks_plaintexts polykem_ckks_plaintexts;

/* Encodes messages. values: count * slots complex numbers, each as two doubles. slots: a power of two up to N/2.
 * Messages are multiplied by `scale` and rounded. Time depends on the values. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_encode(const polykem_ckks_context* context, const double* values,
                                                         size_t count, size_t slots, size_t limbs, double scale,
                                                         polykem_ckks_plaintexts** out);
/* Decodes messages. values: room for `numbers` complex numbers, which are count * slots. Where a quarter of a message's
 * coefficients are above a quarter of the modulus, which no numbers below half of it over the scale have, nothing of
 * the numbers is left: POLYKEM_CKKS_ERR_DECRYPTION. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_decode(const polykem_ckks_context* context,
                                                         const polykem_ckks_plaintexts* plaintexts, double* values,
                                                         size_t numbers);
/* Zeroizes the messages and frees them. */
POLYKEM_CKKS_API void polykem_ckks_plaintexts_free(polykem_ckks_plaintexts* plaintexts);

/* ---- ciphertexts ----------------------------------------------------------------------------------------- */

typedef struct polykem_ckks_ciphertexts polykem_ckks_ciphertexts;

/* Describes a batch. Plaintexts have parts = 1. */
typedef struct polykem_ckks_shape {
  size_t struct_size; /* sizeof(polykem_ckks_shape) */
  size_t count, parts, limbs, slots;
  double scale;
} polykem_ckks_shape;

POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_ciphertexts_shape(const polykem_ckks_ciphertexts* ciphertexts,
                                                                    polykem_ckks_shape* out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_plaintexts_shape(const polykem_ckks_plaintexts* plaintexts,
                                                                   polykem_ckks_shape* out);
/* Make a batch from words, which are checked: [count][parts][limbs][N]. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_ciphertexts_new(const polykem_ckks_context* context,
                                                                  const polykem_ckks_shape* shape,
                                                                  const uint64_t* words, size_t word_count,
                                                                  polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_plaintexts_new(const polykem_ckks_context* context,
                                                                 const polykem_ckks_shape* shape, const uint64_t* words,
                                                                 size_t word_count, polykem_ckks_plaintexts** out);
/* Return the words of a batch, valid as long as it is, or NULL, and 0 words, if it lies on a device. */
POLYKEM_CKKS_API const uint64_t* polykem_ckks_ciphertexts_words(const polykem_ckks_ciphertexts* ciphertexts,
                                                                size_t* word_count);
POLYKEM_CKKS_API const uint64_t* polykem_ckks_plaintexts_words(const polykem_ckks_plaintexts* plaintexts,
                                                               size_t* word_count);
/* Makes the same batch at another scale, which multiplies its numbers by the old scale over the new one. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_with_scale(const polykem_ckks_context* context,
                                                             const polykem_ckks_ciphertexts* ciphertexts, double scale,
                                                             polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API void polykem_ckks_ciphertexts_free(polykem_ckks_ciphertexts* ciphertexts);

/* ---- keys ------------------------------------------------------------------------------------------------ */

typedef struct polykem_ckks_secret_key polykem_ckks_secret_key;
typedef struct polykem_ckks_public_key polykem_ckks_public_key;
typedef struct polykem_ckks_switching_key polykem_ckks_switching_key;

POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_secret_key_generate(const polykem_ckks_context* context,
                                                                      polykem_ckks_secret_key** out);
/* Makes a secret key from its row modulo q[0]. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_secret_key_new(const polykem_ckks_context* context,
                                                                 const uint64_t* row, size_t word_count,
                                                                 polykem_ckks_secret_key** out);
/* Returns the key's rows modulo every prime. */
POLYKEM_CKKS_API const uint64_t* polykem_ckks_secret_key_words(const polykem_ckks_secret_key* key, size_t* word_count);
/* Zeroizes the key and frees it. */
POLYKEM_CKKS_API void polykem_ckks_secret_key_free(polykem_ckks_secret_key* key);

POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_public_key_generate(const polykem_ckks_context* context,
                                                                      const polykem_ckks_secret_key* secret,
                                                                      polykem_ckks_public_key** out);
/* Makes a public key from words: [b, a][limbs of q][N], where b = -a s + e. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_public_key_new(const polykem_ckks_context* context,
                                                                 const uint64_t* words, size_t word_count,
                                                                 polykem_ckks_public_key** out);
POLYKEM_CKKS_API const uint64_t* polykem_ckks_public_key_words(const polykem_ckks_public_key* key, size_t* word_count);
POLYKEM_CKKS_API void polykem_ckks_public_key_free(polykem_ckks_public_key* key);

/* Generates the key of polykem_ckks_relinearise. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_relinearisation_key_generate(const polykem_ckks_context* context,
                                                                               const polykem_ckks_secret_key* secret,
                                                                               polykem_ckks_switching_key** out);
/* Generates the key of polykem_ckks_automorphism with this g. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_automorphism_key_generate(const polykem_ckks_context* context,
                                                                            const polykem_ckks_secret_key* secret,
                                                                            uint64_t g,
                                                                            polykem_ckks_switching_key** out);
/* Makes a switching key from words: [digits][b, a][primes of q, then of p][N]. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_switching_key_new(const polykem_ckks_context* context,
                                                                    const uint64_t* words, size_t word_count,
                                                                    polykem_ckks_switching_key** out);
/* Returns the key's words, or NULL, and 0 words, if it lies on a device. */
POLYKEM_CKKS_API const uint64_t* polykem_ckks_switching_key_words(const polykem_ckks_switching_key* key,
                                                                  size_t* word_count);
POLYKEM_CKKS_API void polykem_ckks_switching_key_free(polykem_ckks_switching_key* key);

POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_encrypt(const polykem_ckks_context* context,
                                                          const polykem_ckks_public_key* key,
                                                          const polykem_ckks_plaintexts* plaintexts,
                                                          polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_decrypt(const polykem_ckks_context* context,
                                                          const polykem_ckks_secret_key* key,
                                                          const polykem_ckks_ciphertexts* ciphertexts,
                                                          polykem_ckks_plaintexts** out);

/* ---- arithmetic ------------------------------------------------------------------------------------------ */

typedef enum polykem_ckks_operation {
  POLYKEM_CKKS_ADD = 1, /* scales must agree */
  POLYKEM_CKKS_SUB = 2, /* scales must agree */
  POLYKEM_CKKS_MUL = 3  /* scales multiply; of ciphertexts: three parts, not relinearised */
} polykem_ckks_operation;

POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_combine(const polykem_ckks_context* context,
                                                          polykem_ckks_operation operation,
                                                          const polykem_ckks_ciphertexts* a,
                                                          const polykem_ckks_ciphertexts* b,
                                                          polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_combine_plain(const polykem_ckks_context* context,
                                                                polykem_ckks_operation operation,
                                                                const polykem_ckks_ciphertexts* a,
                                                                const polykem_ckks_plaintexts* b,
                                                                polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_negate(const polykem_ckks_context* context,
                                                         const polykem_ckks_ciphertexts* a,
                                                         polykem_ckks_ciphertexts** out);
/* Reduces three parts to two. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_relinearise(const polykem_ckks_context* context,
                                                              const polykem_ckks_ciphertexts* a,
                                                              const polykem_ckks_switching_key* key,
                                                              polykem_ckks_ciphertexts** out);
/* Divides by the last prime, rounds and drops it; the scale becomes smaller by the same factor. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_rescale(const polykem_ckks_context* context,
                                                          const polykem_ckks_ciphertexts* a,
                                                          polykem_ckks_ciphertexts** out);
/* Drops limbs and keeps the scale. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_keep_limbs(const polykem_ckks_context* context,
                                                             const polykem_ckks_ciphertexts* a, size_t limbs,
                                                             polykem_ckks_ciphertexts** out);
/* Copies `count` ciphertexts of a batch, from number `first` on. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_items(const polykem_ckks_context* context,
                                                        const polykem_ckks_ciphertexts* a, size_t first, size_t count,
                                                        polykem_ckks_ciphertexts** out);
/* Applies X -> X^g, which moves slots or conjugates them. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_automorphism(const polykem_ckks_context* context,
                                                               const polykem_ckks_ciphertexts* a, uint64_t g,
                                                               const polykem_ckks_switching_key* key,
                                                               polykem_ckks_ciphertexts** out);
/* Applies X -> X^g for each of `count` numbers g with its key, and makes `count` batches in `out`, the same as those of
 * polykem_ckks_automorphism. On the CPU this is faster, because they share the decomposition of a. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_automorphisms(const polykem_ckks_context* context,
                                                                const polykem_ckks_ciphertexts* a, const uint64_t* g,
                                                                const polykem_ckks_switching_key* const* keys,
                                                                size_t count, polykem_ckks_ciphertexts** out);
/* Return the g that moves slot i + steps to slot i, and the one that conjugates every slot. */
POLYKEM_CKKS_API uint64_t polykem_ckks_rotation_element(const polykem_ckks_context* context, long steps);
POLYKEM_CKKS_API uint64_t polykem_ckks_conjugation_element(const polykem_ckks_context* context);

/* ---- polynomials ----------------------------------------------------------------------------------------- */

/* A polynomial of the numbers in every slot, the sum of c_j T_j(u) over j, where u = (2 x - a - b) / (b - a) and T_j
 * are the Chebyshev polynomials. It belongs to no context. */
typedef struct polykem_ckks_chebyshev polykem_ckks_chebyshev;

/* Makes a polynomial. coefficients: `count` finite complex numbers c_0, c_1, ..., each as two doubles; zeros at the end
 * are left out, and one after c_0 must not be 0. a, b: the interval that holds all numbers x, a < b; outside values
 * grow rapidly and may exceed the modulus. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_chebyshev_new(const double* coefficients, size_t count, double a,
                                                                double b, polykem_ckks_chebyshev** out);
POLYKEM_CKKS_API void polykem_ckks_chebyshev_free(polykem_ckks_chebyshev* polynomial);
/* Returns the levels that a polynomial takes, ceil(log2(degree + 1)), and one more unless 2 / (b - a) is a whole
 * number. 0 for NULL. */
POLYKEM_CKKS_API size_t polykem_ckks_chebyshev_levels(const polykem_ckks_chebyshev* polynomial);
/* Computes the polynomial's values at x, at the scale of x, with about sqrt(2 degree) + log2(degree) relinearisations
 * by `key`. limbs_per_level: the primes that a level drops, 1 unless their product is the scale. x has two parts, and
 * was rescaled if it is a product. POLYKEM_CKKS_ERR_NO_LEVEL: x has too few limbs; POLYKEM_CKKS_ERR_SCALES: its scale
 * is so far from the product of the primes of a level, by more than 8 / degree bits, that the scales of Chebyshev
 * polynomials would be lost. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_chebyshev_apply(
    const polykem_ckks_context* context, const polykem_ckks_chebyshev* polynomial, const polykem_ckks_ciphertexts* x,
    const polykem_ckks_switching_key* key, size_t limbs_per_level, polykem_ckks_ciphertexts** out);

/* ---- matrices -------------------------------------------------------------------------------------------- */

/* A square matrix by which the slots of each ciphertext are multiplied. Diagonal number k, modulo the slots, has the
 * element in row i and column (i + k) mod slots at place i. Its diagonals are encoded: each takes 8 N limbs bytes. */
typedef struct polykem_ckks_transform polykem_ckks_transform;

/* Makes a transform of a matrix with `count` diagonals. numbers: of the diagonals; they may be negative and are
 * different modulo the slots. diagonals: count * slots complex numbers, each as two doubles; those of zeros are left
 * out. slots: of the ciphertexts. limbs: of the ciphertexts; those with more drop some, those with fewer are refused
 * (POLYKEM_CKKS_ERR_LEVELS). limbs_per_level: the primes that a level drops, 1 unless their product is the scale.
 * POLYKEM_CKKS_ERR_NO_LEVEL: that many limbs have no level. Time depends on the numbers. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_transform_new(const polykem_ckks_context* context,
                                                                const long* numbers, size_t count,
                                                                const double* diagonals, size_t slots, size_t limbs,
                                                                size_t limbs_per_level, polykem_ckks_transform** out);
/* Zeroizes the diagonals and frees them. */
POLYKEM_CKKS_API void polykem_ckks_transform_free(polykem_ckks_transform* transform);
/* Returns the number of rotations that a transform needs keys for, about 2 sqrt(n) for all n diagonals; 0 for NULL. */
POLYKEM_CKKS_API size_t polykem_ckks_transform_rotation_count(const polykem_ckks_transform* transform);
/* Gives the steps of the rotations, ascending, from 1 to slots - 1. steps: room for `count`, which is their number;
 * NULL if that is 0. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_transform_rotations(const polykem_ckks_transform* transform,
                                                                      long* steps, size_t count);
/* Computes the products with each ciphertext of a batch, at its scale and a level lower. keys: one for each rotation,
 * in the order of polykem_ckks_transform_rotations, for the g of polykem_ckks_rotation_element; NULL if there is none.
 * count: the number of rotations. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_transform_apply(const polykem_ckks_context* context,
                                                                  const polykem_ckks_transform* transform,
                                                                  const polykem_ckks_ciphertexts* a,
                                                                  const polykem_ckks_switching_key* const* keys,
                                                                  size_t count, polykem_ckks_ciphertexts** out);

/* ---- files of OpenFHE ------------------------------------------------------------------------------------ */

/* What OpenFHE 1.5 or 1.6 wrote to a file for CKKS, in its binary form or in JSON. These functions are in libraries
 * that were built with nlohmann-json. */
typedef struct polykem_ckks_file polykem_ckks_file;

typedef enum polykem_ckks_kind {
  POLYKEM_CKKS_CONTEXT = 1,
  POLYKEM_CKKS_PUBLIC_KEY = 2,
  POLYKEM_CKKS_SECRET_KEY = 3,
  POLYKEM_CKKS_CIPHERTEXT = 4,
  POLYKEM_CKKS_RELINEARISATION_KEYS = 5, /* of SerializeEvalMultKey */
  POLYKEM_CKKS_AUTOMORPHISM_KEYS = 6     /* of SerializeEvalAutomorphismKey: rotations and conjugation */
} polykem_ckks_kind;

/* Reads the bytes of a file, which hold an object of this kind and nothing else. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_file_read(polykem_ckks_kind kind, const uint8_t* bytes,
                                                            size_t byte_count, polykem_ckks_file** out);
/* Zeroizes a secret key's residues. */
POLYKEM_CKKS_API void polykem_ckks_file_free(polykem_ckks_file* file);
/* Makes the file's parameter set. Only files of evaluation keys name the special primes: make the context of one of
 * them if it shall switch keys. Sparse secrets and errors with a deviation below 3.19 need allow_insecure, as do large
 * moduli: POLYKEM_CKKS_ERR_INSECURE. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_file_context(const polykem_ckks_file* file, unsigned threads,
                                                               int allow_insecure, polykem_ckks_context** out);
/* Make what is in the file. `context` must have its parameters. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_file_ciphertexts(const polykem_ckks_file* file,
                                                                   const polykem_ckks_context* context,
                                                                   polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_file_public_key(const polykem_ckks_file* file,
                                                                  const polykem_ckks_context* context,
                                                                  polykem_ckks_public_key** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_file_secret_key(const polykem_ckks_file* file,
                                                                  const polykem_ckks_context* context,
                                                                  polykem_ckks_secret_key** out);
/* Returns the number of evaluation keys; 0 if the file is of another kind. */
POLYKEM_CKKS_API size_t polykem_ckks_file_key_count(const polykem_ckks_file* file);
/* Makes evaluation key number i. g: that of polykem_ckks_automorphism, or 0 for polykem_ckks_relinearise. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_file_switching_key(const polykem_ckks_file* file, size_t i,
                                                                     const polykem_ckks_context* context, uint64_t* g,
                                                                     polykem_ckks_switching_key** out);
/* Returns the scales that a ciphertext's scale is the product of: 2 for a product without a rescaling, and for a fresh
 * ciphertext of FLEXIBLEAUTOEXT. 0 if the file is of another kind. */
POLYKEM_CKKS_API unsigned polykem_ckks_file_degree(const polykem_ckks_file* file);
/* Writes ciphertext number `item` as OpenFHE does, for the context and the secret key of the ciphertext in `like`.
 * degree: as polykem_ckks_file_degree; in OpenFHE's FIXEDMANUAL and FIXEDAUTO it alone says the scale, 2^(m degree).
 * json: 0: the binary form. *byte_count: the length of `bytes` before the call, that of the file after it; if it was
 * too small (0, say, and `bytes` NULL), nothing is written and the status is POLYKEM_CKKS_ERR_ARGUMENT. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_file_write_ciphertext(const polykem_ckks_file* like,
                                                                        const polykem_ckks_ciphertexts* ciphertexts,
                                                                        size_t item, unsigned degree, int json,
                                                                        uint8_t* bytes, size_t* byte_count);

/* ---- GPUs ------------------------------------------------------------------------------------------------ */

/* A GPU with the tables of a parameter set: log_n is 12 to 16, and digits times all primes are at most 508. Words have
 * 32 bits there if all primes are below 2^31, else 64.
 *
 * Batches and switching keys are copied there and back. The arithmetic above computes where all its operands lie, a
 * switching key among them, and leaves its result there; residues are those that the CPU computes. Operands in
 * different places are POLYKEM_CKKS_ERR_DEVICE. Encryption, decryption, encoding and words need main memory.
 *
 * Work is queued, in the order of calls whatever their threads are. A later call reports what fails meanwhile. Copies
 * in both directions, the first operation with each number of limbs, and polykem_ckks_device_wait wait for all that was
 * queued before. A child of fork() cannot use a device of its parent. */
typedef struct polykem_ckks_device polykem_ckks_device;

/* Opens GPU number `ordinal` (of CUDA), with libpolykem_ckks_cuda.so, which lies beside the library or where
 * POLYKEM_CKKS_CUDA_MODULE says. scratch_bytes: device memory that an operation takes beside its operands and its
 * result, unless a single ciphertext needs more; larger batches go part by part. 0: 2 GiB, or a quarter of what is free
 * if that is less. The context may be freed before the device, and the device before what lies on it. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_device_open(const polykem_ckks_context* context, int ordinal,
                                                              size_t scratch_bytes, polykem_ckks_device** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_device_wait(const polykem_ckks_device* device);
POLYKEM_CKKS_API void polykem_ckks_device_free(polykem_ckks_device* device);

/* These copy objects. An object that lies there already is not copied; one on another device is refused with
 * POLYKEM_CKKS_ERR_DEVICE. Plaintexts are zeroized when they are freed, there too. */
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_ciphertexts_to_device(const polykem_ckks_device* device,
                                                                        const polykem_ckks_ciphertexts* ciphertexts,
                                                                        polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_plaintexts_to_device(const polykem_ckks_device* device,
                                                                       const polykem_ckks_plaintexts* plaintexts,
                                                                       polykem_ckks_plaintexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_switching_key_to_device(const polykem_ckks_device* device,
                                                                          const polykem_ckks_switching_key* key,
                                                                          polykem_ckks_switching_key** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_ciphertexts_to_host(const polykem_ckks_ciphertexts* ciphertexts,
                                                                      polykem_ckks_ciphertexts** out);
POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_plaintexts_to_host(const polykem_ckks_plaintexts* plaintexts,
                                                                     polykem_ckks_plaintexts** out);

POLYKEM_CKKS_API polykem_ckks_status polykem_ckks_transform_to_device(const polykem_ckks_device* device,
                                                                      const polykem_ckks_transform* transform,
                                                                      polykem_ckks_transform** out);

/* Return the number of the GPU where an object lies, or -1 for main memory. */
POLYKEM_CKKS_API int polykem_ckks_ciphertexts_place(const polykem_ckks_ciphertexts* ciphertexts);
POLYKEM_CKKS_API int polykem_ckks_plaintexts_place(const polykem_ckks_plaintexts* plaintexts);
POLYKEM_CKKS_API int polykem_ckks_switching_key_place(const polykem_ckks_switching_key* key);

#ifdef __cplusplus
}
#endif

#endif
