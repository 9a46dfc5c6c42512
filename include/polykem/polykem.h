/* SPDX-License-Identifier: Apache-2.0 */
/* polykem: batched post-quantum key exchange and signatures. The C API.
 *
 * Rules for all functions:
 *  - Each function returns a polykem_status (or a plain value where noted), never aborts and never prints.
 *  - A batch is `count` >= 1 records of fixed size, contiguous: record i of pk starts at pk + i * public_key_bytes.
 *    count = 1 is the same call. Sizes come from polykem_scheme_info.
 *  - Pointers must be valid for the whole batch and need no alignment. Outputs must not overlap inputs or each other.
 *  - A batch that fails as a whole may fail before it begins: then nothing was written (always so with
 *    POLYKEM_ERR_ARGUMENT, POLYKEM_ERR_RANGE and POLYKEM_ERR_UNKNOWN_*), or on the way: then every output is zero and
 *    every item_status is the batch's status (always so with POLYKEM_ERR_OUT_OF_MEMORY and POLYKEM_ERR_RANDOM). Memory
 *    of a GPU that no longer answers stays as it is.
 *  - Malformed items do not fail the batch: item_status[i] says what is wrong (pass NULL if you do not need it), the
 *    outputs of item i are zero, and the call returns POLYKEM_ERR_ITEMS after it has finished the others.
 *  - A ciphertext that does not decapsulate is not an error: the item's secret is the scheme's rejection secret,
 *    computed in constant time. Decapsulation needs no random numbers.
 *  - A context may be used by several threads at once. Other objects are immutable after creation unless noted.
 *  - After fork() the child may use its parent's contexts, batchers and key sets on the CPU, with threads and random
 *    numbers of its own. Jobs and tickets stay with the parent, and so does memory of a GPU.
 *  - Structs begin with struct_size, which the caller sets to sizeof the struct that it was compiled with. A library
 *    with a longer struct takes the missing fields as zero. A library with a shorter struct refuses fields that it does
 *    not know, unless they are zero.
 */
#ifndef POLYKEM_POLYKEM_H
#define POLYKEM_POLYKEM_H

#include <stddef.h>
#include <stdint.h>

#define POLYKEM_VERSION_MAJOR 0
#define POLYKEM_VERSION_MINOR 2
#define POLYKEM_VERSION_PATCH 0

#if defined(__GNUC__)
#define POLYKEM_API __attribute__((visibility("default")))
#else
#define POLYKEM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The status of a call, or of an item (item_status). */
typedef enum polykem_status {
  POLYKEM_OK = 0,
  POLYKEM_ERR_ARGUMENT = 1,            /* a NULL pointer, count 0 or too large, an unknown enum value, fields that
                                          contradict each other */
  POLYKEM_ERR_UNKNOWN_SCHEME = 2,      /* no parameter set of that name or alias */
  POLYKEM_ERR_UNKNOWN_BACKEND = 3,     /* no backend of that name */
  POLYKEM_ERR_BACKEND_UNAVAILABLE = 4, /* the backend exists but this machine or this build cannot run it */
  POLYKEM_ERR_OUT_OF_MEMORY = 5,
  POLYKEM_ERR_RANDOM = 6,      /* the operating system gave no entropy */
  POLYKEM_ERR_ITEMS = 7,       /* at least one item has its own error: see item_status */
  POLYKEM_ERR_PUBLIC_KEY = 8,  /* item: the public key is malformed */
  POLYKEM_ERR_SECRET_KEY = 9,  /* item: the secret key is malformed */
  POLYKEM_ERR_SIZE = 11,       /* a buffer of another size than the set's records */
  POLYKEM_ERR_BUSY = 12,       /* polykem_job_poll, polykem_ticket_poll: not finished yet; polykem_batcher_add: too many
                                  operations in flight */
  POLYKEM_ERR_RANGE = 13,      /* an index outside its list or key set */
  POLYKEM_ERR_INTERNAL = 14,   /* a defect in polykem; please report it */
  POLYKEM_ERR_CIPHERTEXT = 15, /* item: the ciphertext is malformed, as only a hybrid's can be: its share is no point of
                                 the curve, or yields X25519's zero */
  POLYKEM_ERR_SIGNATURE = 16   /* item: the signature is not one of this message under this key */
} polykem_status;

/* A short English sentence for a status, static storage. */
POLYKEM_API const char* polykem_status_text(polykem_status status);

/* "0.2.0", static storage. */
POLYKEM_API const char* polykem_version(void);

/* ---- parameter sets -------------------------------------------------------------------------------------- */

typedef struct polykem_scheme polykem_scheme; /* one parameter set, static storage */

/* Names and sizes of a parameter set. */
typedef struct polykem_scheme_info_t {
  size_t struct_size;         /* in: sizeof(polykem_scheme_info_t) */
  const char* name;           /* registry name: "mlkem768" */
  const char* family;         /* "mlkem" */
  const char* title;          /* as its specification spells it: "ML-KEM-768" */
  uint32_t security_category; /* NIST category 1..5, 0 where none was claimed */
  size_t public_key_bytes, secret_key_bytes, ciphertext_bytes, shared_secret_bytes;
  size_t keygen_coin_bytes;   /* coins of one key pair: random bytes, in the order of the known-answer tests */
  size_t encaps_coin_bytes;   /* coins of one encapsulation */
  size_t secret_seed_bytes;   /* of a secret key in its form as a seed (FIPS 203: d, z); 0 if the set has none */
  size_t public_key_at;       /* offset in bytes of the public key within a secret key; SIZE_MAX if it holds none */
  int research;               /* 1 if the set is for research only, since attacks on it are published */
  size_t signature_bytes;     /* of a signature set; 0 for a KEM, whose set has ciphertexts and shared secrets */
  size_t sign_coin_bytes;     /* coins of one signature: rnd of FIPS 204 */
  const char* const* aliases; /* alias_count other names by which the set is found, beside name and title */
  size_t alias_count;
} polykem_scheme_info_t;

/* The number of parameter sets of the library. */
POLYKEM_API size_t polykem_scheme_count(void);
POLYKEM_API const polykem_scheme* polykem_scheme_at(size_t index); /* NULL if index >= count */
/* By registry name or alias; letter case, '-' and '_' do not matter. POLYKEM_ERR_UNKNOWN_SCHEME if there is none. */
POLYKEM_API polykem_status polykem_scheme_find(const char* name, const polykem_scheme** out);
/* The registry name nearest to a mistyped one (edit distance), static storage; never NULL for a non-NULL name. */
POLYKEM_API const char* polykem_scheme_suggest(const char* name);
/* The number of signature sets (ML-DSA), which have a list and operations of their own. */
POLYKEM_API size_t polykem_signature_count(void);
POLYKEM_API const polykem_scheme* polykem_signature_at(size_t index); /* NULL if index >= count */
/* By registry name; letter case, '-' and '_' do not matter. POLYKEM_ERR_UNKNOWN_SCHEME if there is none. */
POLYKEM_API polykem_status polykem_signature_find(const char* name, const polykem_scheme** out);
/* As polykem_scheme_suggest, of a signature set. */
POLYKEM_API const char* polykem_signature_suggest(const char* name);
/* Of a KEM's or a signature set. Set out->struct_size. */
POLYKEM_API polykem_status polykem_scheme_info(const polykem_scheme* scheme, polykem_scheme_info_t* out);
/* The public key of an expanded secret key: computed for ML-DSA, copied where the secret key holds it.
 * POLYKEM_ERR_SECRET_KEY and zeros if the parts of an ML-DSA key do not belong together; keys of KEMs are not checked.
 * POLYKEM_ERR_ARGUMENT if the set's public keys do not follow from secret keys in this form. */
POLYKEM_API polykem_status polykem_public_key_of(const polykem_scheme* scheme, const uint8_t* sk, uint8_t* pk);

/* ---- backends -------------------------------------------------------------------------------------------- */

/* One way to run parameter sets on this machine. */
typedef struct polykem_backend_info_t {
  size_t struct_size; /* in: sizeof(polykem_backend_info_t) */
  const char* name;   /* "cuda", "rtl", "amx", "avx512", "avx2", "neon-sha3", "neon", "ref" */
  const char* description;
  const char* requirements; /* what the machine must have, and why it is not available here if that is known */
  int available;            /* 1 if this machine and build can run it */
  uint32_t fallbacks;       /* chunks of batches in this process that the CPU computed because this backend failed */
} polykem_backend_info_t;

/* The number of backends, available or not. */
POLYKEM_API size_t polykem_backend_count(void);
/* In priority order, best first. Set out->struct_size. */
POLYKEM_API polykem_status polykem_backend_info(size_t index, polykem_backend_info_t* out);

/* The reason why a backend cannot run here, as far as the CPU and the installed files show: a sentence in static
 * storage, or NULL if nothing prevents it. This loads no module and opens no device, so that a process may fork
 * afterwards. */
POLYKEM_API const char* polykem_backend_missing(const char* name);

/* Names of the CPU features that were found and matter here, separated by spaces, static storage. */
POLYKEM_API const char* polykem_cpu_features(void);

/* CPUs that this process may use, at least 1: those of its affinity, or fewer where a control group has a quota of CPU
 * time. *why, unless NULL, becomes their numbers, static storage; on failure it is untouched. */
POLYKEM_API unsigned polykem_cpus(const char** why);

/* Resources of a machine that control groups can limit. */
typedef enum polykem_resource {
  POLYKEM_MEMORY = 0, /* bytes */
  POLYKEM_THREADS = 1
} polykem_resource;
/* The amount of a resource that this process may use, together with the others in its control groups; 0 if that is
 * unknown. *why, unless NULL, becomes the origin of the limit, static storage; on failure it is untouched. */
POLYKEM_API uint64_t polykem_limit(polykem_resource resource, const char** why);

/* ---- context --------------------------------------------------------------------------------------------- */

typedef struct polykem_context polykem_context; /* thread pool, backend choice, random generators */

/* The configuration of a context. */
typedef struct polykem_config {
  size_t struct_size; /* sizeof(polykem_config) */
  unsigned threads; /* worker threads, at most 1024; 0: one per CPU of polykem_cpus(). 1: blocking calls compute on the
                       caller's thread. If the system grants fewer threads, those do the work */
  const char* backend; /* force one; NULL: environment variable POLYKEM_BACKEND if set, else the best available */
} polykem_config;

/* config may be NULL for the defaults. */
POLYKEM_API polykem_status polykem_context_new(const polykem_config* config, polykem_context** out);
/* The same, but does not wait for a forced GPU to open, which takes seconds. The GPU opens in the background when a
 * batcher first receives an operation; until then the CPU computes the operations of batchers. If it cannot be opened,
 * operations fail with POLYKEM_ERR_BACKEND_UNAVAILABLE from then on. polykem_run waits for it. */
POLYKEM_API polykem_status polykem_context_new_open_later(const polykem_config* config, polykem_context** out);
/* Waits for running jobs. NULL is allowed. In a callback it does nothing. */
POLYKEM_API void polykem_context_free(polykem_context* context);
/* Threads that compute the context's batches. */
POLYKEM_API unsigned polykem_context_threads(const polykem_context* context);
/* Name of the backend that runs `scheme` in this context, static storage; NULL if none can. If that is "cuda" and was
 * not forced, small batches still run on the CPU. */
POLYKEM_API const char* polykem_context_backend(const polykem_context* context, const polykem_scheme* scheme);

/* ---- batch operations ------------------------------------------------------------------------------------ */

/* Key generation; encapsulation and decapsulation with a KEM's set; signing and verification with a signature set. */
typedef enum polykem_op {
  POLYKEM_KEYGEN = 0,
  POLYKEM_ENCAPS = 1,
  POLYKEM_DECAPS = 2,
  POLYKEM_SIGN = 3,
  POLYKEM_VERIFY = 4
} polykem_op;

/* Whether each item has its own key. */
typedef enum polykem_key_mode {
  POLYKEM_KEY_PER_ITEM = 0, /* `count` keys, item i uses key i */
  POLYKEM_KEY_SHARED = 1    /* one key, used for all items */
} polykem_key_mode;

/* The form of the secret keys that decaps and sign take. */
typedef enum polykem_secret_form {
  POLYKEM_SECRET_EXPANDED = 0, /* records of secret_key_bytes, as keygen makes them */
  POLYKEM_SECRET_SEED = 1      /* records of secret_seed_bytes: the coins that keygen took */
} polykem_secret_form;

/* Bits of polykem_request.flags. */
typedef enum polykem_request_flag {
  POLYKEM_CALLER_WAITS = 1 /* polykem_batcher_add: this thread will only wait for the ticket, so it computes the
                              operation itself unless a batch is cheaper */
} polykem_request_flag;

typedef struct polykem_keyset polykem_keyset; /* keys that the library holds where they are used, see below */

/* A byte string for each item. If offsets is not NULL, string i is data[offsets[i]] up to data[offsets[i + 1] - 1]
 * (count + 1 offsets that do not fall; width and shared are 0); if it is NULL, every string has `width` bytes, and
 * `shared` (1) says that all items have one string. data may be NULL if all are empty. */
typedef struct polykem_strings {
  const uint8_t* data;
  const size_t* offsets;
  size_t width;
  int shared;
} polykem_strings;

/* The kinds of strings in polykem_messages. */
typedef enum polykem_message_kind {
  POLYKEM_MESSAGE = 0,        /* messages: ML-DSA [FIPS 204, 5.2, 5.3] */
  POLYKEM_MESSAGE_DIGEST = 1, /* digests of messages, by the hash that digest_oid names: HashML-DSA [FIPS 204, 5.4] */
  POLYKEM_MESSAGE_MU = 2      /* the 64 bytes of mu, computed by the caller; there is no context */
} polykem_message_kind;

/* The messages that a batch signs or verifies. All arrays lie in host memory. */
typedef struct polykem_messages {
  size_t struct_size; /* sizeof(polykem_messages) */
  polykem_message_kind kind;
  polykem_strings strings;   /* of any lengths */
  polykem_strings contexts;  /* of at most 255 bytes each */
  const uint8_t* digest_oid; /* the hash's object identifier in DER, tag and length included, at most 32 bytes */
  size_t digest_oid_bytes;
  int deterministic; /* 1: rnd is 32 zero bytes [FIPS 204, 3.4]; else it is random, or coins */
} polykem_messages;

/* One batch. Set struct_size, op, scheme, count and the fields the operation uses; leave the others zero.
 *   keygen: pk_out and sk_out. coins optional.
 *   encaps: key_mode with pk, or keyset (+ key_index); ct_out, ss_out. coins optional.
 *   decaps: key_mode with sk (+ secret_form), or keyset (+ key_index); ct, ss_out.
 *   sign: key_mode with sk (+ secret_form), or keyset (+ key_index); messages, sig_out. coins optional.
 *   verify: key_mode with pk, or keyset (+ key_index); messages, sig. An item whose signature does not verify has
 *     POLYKEM_ERR_SIGNATURE.
 * coins: the operation's random inputs (count x *_coin_bytes); NULL: taken from the context's generator.
 * With a keyset: key_index NULL and key_mode PER_ITEM: item i uses key i of the set (count <= its size);
 * key_mode SHARED: key key_index[0], or key 0 if NULL; otherwise item i uses key key_index[i]. */
typedef struct polykem_request {
  size_t struct_size; /* sizeof(polykem_request) */
  polykem_op op;
  polykem_key_mode key_mode;
  const polykem_scheme* scheme;
  size_t count;
  const uint8_t* coins;
  const uint8_t *pk, *sk, *ct;
  uint8_t *pk_out, *sk_out, *ct_out, *ss_out;
  polykem_status* item_status; /* count entries, or NULL */
  const polykem_keyset* keyset;
  const size_t* key_index;
  polykem_secret_form secret_form;  /* of sk */
  uint32_t flags;                   /* of polykem_request_flag */
  const polykem_messages* messages; /* of sign and verify; copied at the call, its arrays are not */
  const uint8_t* sig;
  uint8_t* sig_out;
} polykem_request;

/* Runs the batch and returns when it is done. */
POLYKEM_API polykem_status polykem_run(polykem_context* context, const polykem_request* request);

/* polykem_run for key pairs with random keys. */
POLYKEM_API polykem_status polykem_keygen(polykem_context* context, const polykem_scheme* scheme, size_t count,
                                          uint8_t* pk, uint8_t* sk);
/* polykem_run for encapsulations to pk. item_status may be NULL. */
POLYKEM_API polykem_status polykem_encaps(polykem_context* context, const polykem_scheme* scheme, size_t count,
                                          polykem_key_mode key_mode, const uint8_t* pk, uint8_t* ct, uint8_t* ss,
                                          polykem_status* item_status);
/* polykem_run for decapsulations with sk. item_status may be NULL. */
POLYKEM_API polykem_status polykem_decaps(polykem_context* context, const polykem_scheme* scheme, size_t count,
                                          polykem_key_mode key_mode, const uint8_t* sk, const uint8_t* ct, uint8_t* ss,
                                          polykem_status* item_status);

/* ---- asynchronous batches -------------------------------------------------------------------------------- */

typedef struct polykem_job polykem_job; /* a batch that runs in the background */
/* Called once when the batch has finished, on a worker thread, perhaps before polykem_submit has returned. It should
 * not block. It may submit and run other batches and free its own job; polykem_job_wait for its own job returns
 * POLYKEM_ERR_ARGUMENT there, and polykem_context_free does nothing. */
typedef void (*polykem_callback)(void* user, polykem_status status);

/* Copies *request (not the buffers, which must stay valid until the job has finished) and returns at once.
 * callback may be NULL. job_out may be NULL if a callback is given: the job then frees itself. *job_out is set before
 * the batch starts. POLYKEM_ERR_OUT_OF_MEMORY if the system gives no thread. */
POLYKEM_API polykem_status polykem_submit(polykem_context* context, const polykem_request* request,
                                          polykem_callback callback, void* user, polykem_job** job_out);
/* POLYKEM_ERR_BUSY while it runs, then the batch's own status. */
POLYKEM_API polykem_status polykem_job_poll(const polykem_job* job);
/* Blocks until the batch has finished and returns its status. POLYKEM_ERR_ARGUMENT for an unfinished job of a process
 * that this one was forked from. */
POLYKEM_API polykem_status polykem_job_wait(const polykem_job* job);
/* Waits where polykem_job_wait would, then frees. NULL is allowed. */
POLYKEM_API void polykem_job_free(polykem_job* job);

/* ---- single operations, collected into batches ---------------------------------------------------------- */

/* A batcher takes one operation at a time from any number of threads and computes waiting operations in batches: on the
 * caller's thread where that is faster, otherwise on the context's threads, on a GPU or by a broker. Whenever one of
 * these is idle, it takes the waiting operations, at once unless linger_us is set. Decapsulations go first, then
 * signatures, verifications, encapsulations and key pairs. */
typedef struct polykem_batcher polykem_batcher;
typedef struct polykem_ticket polykem_ticket; /* one operation that was handed in */

/* The configuration of a batcher. */
typedef struct polykem_batcher_config {
  size_t struct_size;   /* sizeof(polykem_batcher_config) */
  size_t batch_items;   /* most operations in one batch, at most 65536; 0: 1024 */
  uint32_t linger_us;   /* how long a batch that is not full waits for more; 0: not at all */
  uint32_t deadline_us; /* after this time on a GPU or a broker, the CPU computes an operation as well; 0: 5000 */
  size_t high_water;    /* with this many operations in flight, new ones go to the CPU only; 0: 4096 */
  size_t hard_limit;    /* with this many operations in flight, polykem_batcher_add refuses new ones; 0: 65536 */
  const char* broker;   /* path of polykemd's socket; NULL: none */
} polykem_batcher_config;

/* config may be NULL for the defaults. The context must outlive the batcher. A child of fork() may use its parent's
 * batcher; it begins anew. A broker is not asked where a backend is forced. */
POLYKEM_API polykem_status polykem_batcher_new(polykem_context* context, const polykem_batcher_config* config,
                                               polykem_batcher** out);
/* Waits until every operation has finished. Tickets stay valid until they are freed. NULL is allowed. In a callback it
 * does nothing. */
POLYKEM_API void polykem_batcher_free(polykem_batcher* batcher);

/* Called once, on one of the library's threads, when the ticket has finished. It should not block. It may add
 * operations, take results and free tickets. */
typedef void (*polykem_ticket_callback)(void* user);

/* Hands in one operation: request->count is 1, there are no outputs, no keyset and no item_status; inputs lie in host
 * memory and are copied, of a message its mu, which is hashed at once. A private key of ML-DSA is given expanded. A
 * broker computes no signatures. Coins are optional. done may be NULL; it is not called if the ticket had finished
 * before this function returned (ask polykem_ticket_poll; a ticket that finishes right after the return may be seen
 * both ways). Needs no more than 16 KB of the caller's stack. POLYKEM_ERR_BUSY at the hard limit; then, and after any
 * other error, there is no ticket. */
POLYKEM_API polykem_status polykem_batcher_add(polykem_batcher* batcher, const polykem_request* request,
                                               polykem_ticket_callback done, void* user, polykem_ticket** out);
/* For a loop that adds several operations: no thread begins any of them before polykem_batcher_release, so that they
 * share batches. Call polykem_batcher_release once for each call of this, soon. */
POLYKEM_API polykem_status polykem_batcher_hold(polykem_batcher* batcher);
/* Ends what polykem_batcher_hold began. */
POLYKEM_API polykem_status polykem_batcher_release(polykem_batcher* batcher);
/* POLYKEM_ERR_BUSY, then the operation's own status: POLYKEM_ERR_PUBLIC_KEY, for example. */
POLYKEM_API polykem_status polykem_ticket_poll(const polykem_ticket* ticket);
/* Blocks until the operation has finished and returns its status. POLYKEM_ERR_ARGUMENT for an unfinished ticket of a
 * process that this one was forked from. Do not wait for other tickets in a callback. */
POLYKEM_API polykem_status polykem_ticket_wait(polykem_ticket* ticket);
/* Copies the results out and returns the operation's status; waits where polykem_ticket_wait would. public_out: the
 * public key, the ciphertext or the signature (decaps and verify have none); secret_out: the secret key or the shared
 * secret; NULL: not wanted. Where the operation failed, zeros. */
POLYKEM_API polykem_status polykem_ticket_take(polykem_ticket* ticket, uint8_t* public_out, uint8_t* secret_out);
/* The size of the batch in which this operation was computed: 1 if its caller computed it, 0 if it has not finished. */
POLYKEM_API size_t polykem_ticket_batch_items(const polykem_ticket* ticket);
/* Zeroizes and frees. An operation that has not begun is dropped. Once this has returned, the callback is not running
 * and will not run; the callback itself may call this. NULL is allowed. */
POLYKEM_API void polykem_ticket_free(polykem_ticket* ticket);

/* Counters of one set and operation. Buckets are powers of two: [i] counts values v with 2^i <= v < 2^(i+1), the first
 * also 0, the last all above. */
typedef struct polykem_batcher_stats_t {
  size_t struct_size;
  uint64_t operations, on_caller, on_cpu, on_accelerator, on_broker; /* finished, by where they were computed */
  uint64_t spilled;                                                  /* went to the CPU because of high_water */
  uint64_t rescued;         /* given to the CPU because a GPU or broker failed or was late */
  uint64_t refused;         /* POLYKEM_ERR_BUSY */
  uint64_t abandoned;       /* freed before they began */
  uint64_t failed;          /* finished with a status other than POLYKEM_OK */
  uint64_t batches;         /* not counting what callers computed themselves */
  uint64_t batch_items[24]; /* batches by their size */
  uint64_t wait_us[32];     /* operations by the time until their batch began */
  uint64_t service_us[32];  /* batches by the time that they took */
  uint64_t batch_items_sum, wait_us_sum, service_us_sum; /* of the values in the buckets above */
  uint64_t waiting, in_flight;                           /* now */
} polykem_batcher_stats_t;
/* Set out->struct_size. */
POLYKEM_API polykem_status polykem_batcher_stats(polykem_batcher* batcher, const polykem_scheme* scheme, polykem_op op,
                                                 polykem_batcher_stats_t* out);

/* State of an executor's circuit breaker. */
typedef enum polykem_executor_state {
  POLYKEM_EXECUTOR_UNUSED = 0,   /* no batch has gone there yet */
  POLYKEM_EXECUTOR_CLOSED = 1,   /* the breaker is closed: it takes batches */
  POLYKEM_EXECUTOR_OPEN = 2,     /* it failed and gets no batches */
  POLYKEM_EXECUTOR_HALF_OPEN = 3 /* a probe tests whether it works again */
} polykem_executor_state;

/* An executor, which computes batches: the CPU, a GPU or a broker. */
typedef struct polykem_executor_health_t {
  size_t struct_size;
  const char* name; /* "cpu", "cuda", "broker"; static storage */
  polykem_executor_state state;
  uint32_t batches;   /* in flight */
  const char* reason; /* why the breaker opened last, "" if it never did; static storage */
  uint64_t opened;    /* how often the breaker has opened */
} polykem_executor_health_t;
/* executor counts from 0, the CPU; POLYKEM_ERR_RANGE past the last. Set out->struct_size. */
POLYKEM_API polykem_status polykem_batcher_health(polykem_batcher* batcher, size_t executor,
                                                  polykem_executor_health_t* out);

/* ---- a broker: one process computes for others of this machine ------------------------------------------ */

/* Worker processes whose batcher names the broker's socket (polykem_batcher_config.broker) pass their operations to the
 * broker's batcher through shared memory. If the broker dies, they compute by themselves and reconnect. polykemd is a
 * program around these calls. A client can harm only its own operations. */
typedef struct polykem_broker polykem_broker;

/* The configuration of a broker: its socket, and the clients that it admits. */
typedef struct polykem_broker_config {
  size_t struct_size;   /* sizeof(polykem_broker_config) */
  const char* path;     /* of the socket; the file PATH.lock beside it is locked while a broker listens */
  int32_t listen_fd;    /* if path is NULL: a listening Unix stream socket, which the broker closes at the end */
  uint32_t mode;        /* of the socket's file; 0: 0600 */
  const uint32_t* uids; /* uid_count users that may connect besides this process's own */
  size_t uid_count;
  const uint32_t* gids; /* gid_count groups whose members may connect */
  size_t gid_count;
  uint32_t clients;         /* most processes at once; 0: 256 */
  uint32_t clients_of_user; /* most processes of one user; 0: 128 */
  uint32_t slots;           /* most operations in flight of one process, a power of two up to 4096; 0: 256 */
  uint32_t memory_mib;      /* most shared memory of all processes. Where several users may connect, those of each get
                               half of what others leave. A process gets as many slots as fit into half of what its
                               user may still have, or one. 0: 4096 */
} polykem_broker_config;

/* Starts a thread that serves clients. The batcher must outlive the broker. POLYKEM_ERR_BUSY: another process listens
 * at the path. POLYKEM_ERR_ARGUMENT: it is impossible to listen there; errno says why. */
POLYKEM_API polykem_status polykem_broker_new(polykem_batcher* batcher, const polykem_broker_config* config,
                                              polykem_broker** out);
/* Takes no more operations, finishes those that it has, within ten seconds, and disconnects its clients. NULL is
 * allowed. */
POLYKEM_API void polykem_broker_free(polykem_broker* broker);
/* Changes which clients are admitted; path, listen_fd and mode of the configuration are not read. Connected clients
 * stay, and keep what they have. The change is in effect when this returns. */
POLYKEM_API polykem_status polykem_broker_admit(polykem_broker* broker, const polykem_broker_config* config);

/* A broker's counters. */
typedef struct polykem_broker_stats_t {
  size_t struct_size;
  uint64_t clients, in_flight; /* now: processes, operations */
  uint64_t accepted, refused;  /* processes that were admitted, or not: not allowed, or no place left */
  uint64_t violations;         /* processes dropped because they broke the protocol */
  uint64_t operations, failed; /* answered with a result, or with an error */
  uint64_t late;               /* of the failed: their deadline had passed */
  uint64_t dropped;            /* their process went away */
  uint64_t bytes_of_client;    /* shared memory that one process can fill at most */
  uint64_t short_of_memory;    /* of the refused: no shared memory was left that their user's processes may hold */
  uint64_t silent_ms;          /* since its thread last looked at its clients, which it does every second at least */
} polykem_broker_stats_t;
/* Set out->struct_size. */
POLYKEM_API polykem_status polykem_broker_stats(const polykem_broker* broker, polykem_broker_stats_t* out);

/* ---- key sets: keys that stay where they are used ---------------------------------------------------- */

/* The kind of records from which a key set is made. */
typedef enum polykem_key_kind {
  POLYKEM_PUBLIC_KEYS = 0,
  POLYKEM_SECRET_KEYS = 1,
  POLYKEM_SECRET_SEEDS = 2 /* for import: the set holds the secret keys that follow from them */
} polykem_key_kind;

/* Copies `count` keys into a set of `context`. The set also keeps what each use of a key would compute again, on a CPU
 * up to 256 MB. A malformed key shows when an item uses it. The keys of the sets efrodokem* are for one exchange each:
 * their specification allows no more than 2^8 ciphertexts to a key; frodokem* are the sets for keys that are used
 * again. */
POLYKEM_API polykem_status polykem_keyset_import(polykem_context* context, const polykem_scheme* scheme,
                                                 polykem_key_kind kind, size_t count, const uint8_t* keys,
                                                 polykem_keyset** out);
/* Makes `count` key pairs whose secret keys never leave the set; the public keys go to pk. */
POLYKEM_API polykem_status polykem_keyset_generate(polykem_context* context, const polykem_scheme* scheme, size_t count,
                                                   uint8_t* pk, polykem_keyset** out);
/* The number of keys in the set. */
POLYKEM_API size_t polykem_keyset_size(const polykem_keyset* keyset);
/* Zeroizes and frees. No batch may be using it. NULL is allowed. */
POLYKEM_API void polykem_keyset_free(polykem_keyset* keyset);

/* ---- data that is on a GPU already ------------------------------------------------------------------- */

/* With the backend "cuda" every array of a request but item_status, key_index and messages may also lie in the memory
 * of one GPU (for polykem_cuda_queue it must, item_status included); it is then used where it is. The library
 * recognises such memory once a context has been created with that backend; before that, it treats every pointer as
 * host memory.
 * Device arrays must be readable up to the next multiple of 4 bytes. Work of your own streams on them must have
 * finished before polykem_run, polykem_submit or polykem_keyset_import is called, because polykem's streams do not
 * wait for yours: call cudaStreamSynchronize for them first, and for the default stream after a cudaMemcpy from memory
 * that is not pinned, which may return before the data has arrived. polykem_cuda_queue is ordered by its stream
 * instead. Key sets of such a context live on the GPU: secret keys from polykem_keyset_generate never leave it. */

/* Bytes of device memory that polykem_cuda_queue needs for `count` items. */
POLYKEM_API polykem_status polykem_cuda_workspace(const polykem_context* context, const polykem_scheme* scheme,
                                                  polykem_op op, size_t count, size_t* bytes);
/* Queues a batch of a KEM on the caller's stream (a cudaStream_t; NULL: the default stream) of the current device and
 * returns at once. Every array lies on that device, item_status (4-byte aligned, or NULL) too; keyset is NULL,
 * secret_form is POLYKEM_SECRET_EXPANDED. The batch never returns POLYKEM_ERR_ITEMS: item_status[i] is right when the
 * stream has passed this point, and the outputs of a malformed item are zero. workspace: device memory, 256-byte
 * aligned, busy until then, afterwards without secrets. Errors of kernels show on the stream; after any failure
 * neither the outputs nor item_status may be used. POLYKEM_ERR_ARGUMENT for more items than one launch can count (2^29
 * for NTRU, 2^28 for Saber, 2^27 for ML-KEM, Kyber, LAC and hybrids, 2^24 for FrodoKEM), for signature sets, for
 * arrays in host memory or on another device, and while the stream is captured into a graph if random numbers are
 * needed: replays would repeat them. */
POLYKEM_API polykem_status polykem_cuda_queue(polykem_context* context, const polykem_request* request, void* workspace,
                                              void* stream);

/* ---- the choice between CPU and GPU ------------------------------------------------------------------- */

/* Unless a backend is forced, batches of *items items or more go to the GPU; SIZE_MAX: none. *measured: 1 if that was
 * measured on this machine, 0 if it is an estimate. Both hold for memory that is not pinned. */
POLYKEM_API polykem_status polykem_crossover(const polykem_scheme* scheme, polykem_op op, size_t* items, int* measured);
/* Measures it for the three operations of a set with every CPU this process may use, about a second, and keeps it in a
 * file for later processes. POLYKEM_ERR_BACKEND_UNAVAILABLE if the set cannot run on a GPU here. */
POLYKEM_API polykem_status polykem_tune(const polykem_scheme* scheme);
/* The origin of these figures and, if those of the file are not used, the reason: one line, static storage. */
POLYKEM_API const char* polykem_crossover_note(void);

/* ---- where the time goes ----------------------------------------------------------------------------- */

/* The time that one step of a plan took. */
typedef struct polykem_step_record {
  size_t struct_size; /* in: sizeof(polykem_step_record); of an array, that of the first counts for all */
  polykem_op op;
  const char* step;   /* the backend's name for the step */
  const char* stages; /* the specification's stages it covers, separated by '+' */
  uint64_t calls;     /* times the step ran, over chunks */
  uint64_t items;     /* records it worked on */
  uint64_t nanoseconds;
  uint64_t cycles; /* clock cycles, where the backend has a counter of its own ("rtl"); else 0 */
} polykem_step_record;

/* Starts (enable != 0, clearing earlier figures) or stops recording the time of every step in this context. */
POLYKEM_API polykem_status polykem_profile_enable(polykem_context* context, int enable);
/* Copies up to `capacity` records, in plan order, and sets *size to how many there are. records may be NULL with
 * capacity 0. Strings are static storage. */
POLYKEM_API polykem_status polykem_profile_read(polykem_context* context, polykem_step_record* records, size_t capacity,
                                                size_t* size);
/* The plan of one operation as static names: step i of `scheme` in this context. POLYKEM_ERR_RANGE past the last. This
 * is the plan for full registers; a backend may compute a small batch, or the rest of a batch, by another plan with the
 * same stages. polykem_profile_read() shows which steps ran. */
POLYKEM_API polykem_status polykem_plan_step(const polykem_context* context, const polykem_scheme* scheme,
                                             polykem_op op, size_t index, const char** step, const char** stages);

/* Overwrites memory with zeros in a way the compiler keeps. */
POLYKEM_API void polykem_zeroize(void* memory, size_t bytes);

/* Clears the calling thread's vector registers and the 20 KB of its stack below the caller's frame, where functions
 * that handled secrets leave copies: memcpy() in registers, the dynamic linker on the stack when it binds a function at
 * its first call. polykem's own operations clear what they used of the stack without this call. */
POLYKEM_API void polykem_zeroize_stack(void);

#ifdef __cplusplus
}
#endif
#endif
