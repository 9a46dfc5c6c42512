// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "ckks/src/chebyshev.hpp"
#include "ckks/src/device.hpp"
#include "ckks/src/encoding.hpp"
#include "ckks/src/error.hpp"
#include "ckks/src/evaluator.hpp"
#include "ckks/src/keys.hpp"
#include "ckks/src/primes.hpp"
#include "ckks/src/status.hpp"
#include "ckks/src/transform.hpp"
#include "polykem/ckks.h"

using namespace polykem::ckks;

struct polykem_ckks_context : Context {
  using Context::Context;
};
struct polykem_ckks_plaintexts : Plaintexts {};
struct polykem_ckks_ciphertexts : Ciphertexts {};
struct polykem_ckks_secret_key : SecretKey {};
struct polykem_ckks_public_key : PublicKey {};
struct polykem_ckks_switching_key : SwitchingKey {};
struct polykem_ckks_chebyshev : Chebyshev {
  using Chebyshev::Chebyshev;
};
struct polykem_ckks_transform : LinearTransform {
  using LinearTransform::LinearTransform;
  explicit polykem_ckks_transform(LinearTransform&& transform) : LinearTransform(std::move(transform)) {}
};
struct polykem_ckks_device {
  std::shared_ptr<const Device> device;
};

namespace {

static_assert(static_cast<int>(Fault::kArgument) == POLYKEM_CKKS_ERR_ARGUMENT);
static_assert(static_cast<int>(Fault::kOutOfMemory) == POLYKEM_CKKS_ERR_OUT_OF_MEMORY);
static_assert(static_cast<int>(Fault::kRandom) == POLYKEM_CKKS_ERR_RANDOM);
static_assert(static_cast<int>(Fault::kInternal) == POLYKEM_CKKS_ERR_INTERNAL);
static_assert(static_cast<int>(Fault::kParameters) == POLYKEM_CKKS_ERR_PARAMETERS);
static_assert(static_cast<int>(Fault::kInsecure) == POLYKEM_CKKS_ERR_INSECURE);
static_assert(static_cast<int>(Fault::kLevels) == POLYKEM_CKKS_ERR_LEVELS);
static_assert(static_cast<int>(Fault::kScales) == POLYKEM_CKKS_ERR_SCALES);
static_assert(static_cast<int>(Fault::kParts) == POLYKEM_CKKS_ERR_PARTS);
static_assert(static_cast<int>(Fault::kNoLevel) == POLYKEM_CKKS_ERR_NO_LEVEL);
static_assert(static_cast<int>(Fault::kResidues) == POLYKEM_CKKS_ERR_RESIDUES);
static_assert(static_cast<int>(Fault::kDevice) == POLYKEM_CKKS_ERR_DEVICE);
static_assert(static_cast<int>(Fault::kDecryption) == POLYKEM_CKKS_ERR_DECRYPTION);
static_assert(static_cast<int>(Fault::kFormat) == POLYKEM_CKKS_ERR_FORMAT);

constexpr size_t kMaxWords = size_t{1} << 40;

/// Moves a value into an object of the C API.
template <typename Handle, typename Value>
void give(Value&& value, Handle** out) {
  auto handle = std::make_unique<Handle>();
  static_cast<std::remove_reference_t<Value>&>(*handle) = std::forward<Value>(value);
  *out = handle.release();
}

std::vector<uint64_t> words_at(const uint64_t* words, size_t count) {
  return words == nullptr ? std::vector<uint64_t>() : std::vector<uint64_t>(words, words + count);
}

const Complex* numbers_at(const double* values) {
  return reinterpret_cast<const Complex*>(values);  // the standard allows it: [complex.numbers]
}

std::vector<const SwitchingKey*> keys_at(const polykem_ckks_switching_key* const* keys, size_t count) {
  if (count != 0) need(keys);
  std::vector<const SwitchingKey*> out;
  for (size_t i = 0; i < count; ++i) {
    need(keys[i]);
    out.push_back(keys[i]);
  }
  return out;
}

/// Checks rows of one polynomial modulo the primes 0..primes - 1.
void check_rows(const Context& context, const uint64_t* words, size_t rows, size_t primes) {
  for (size_t row = 0; row < rows; ++row) {
    const uint64_t q = context.modulus(row % primes).value();
    for (size_t k = 0; k < context.n(); ++k)
      if (words[row * context.n() + k] >= q)
        throw Error(Fault::kResidues, "word " + std::to_string(k) + " of row " + std::to_string(row) +
                                          " is not below its prime, " + std::to_string(q));
  }
}

/// Returns the number of words of a batch of this shape. Throws if there is no such batch.
size_t checked_words(const Context& context, const polykem_ckks_shape& shape, size_t min_parts, size_t max_parts) {
  if (shape.struct_size != sizeof shape || shape.count == 0 || shape.parts < min_parts || shape.parts > max_parts)
    throw Error(Fault::kArgument, "the shape's struct_size, count or parts is out of range");
  if (shape.limbs == 0 || shape.limbs > context.limbs())
    throw Error(Fault::kLevels, "the shape has more limbs than the parameter set, or none");
  context.check_scale(shape.scale, shape.limbs);
  if (shape.slots == 0 || (shape.slots & (shape.slots - 1)) != 0 || shape.slots > context.n() / 2)
    throw Error(Fault::kArgument, "slots are a power of two, at most half the ring dimension");
  if (shape.count > kMaxWords / (shape.parts * shape.limbs * context.n()))
    throw Error(Fault::kArgument, "the batch is too large");
  return shape.count * shape.parts * shape.limbs * context.n();
}

template <typename Batch>
polykem_ckks_status shape_of(const Batch* batch, size_t parts, polykem_ckks_shape* out) {
  return guarded([&] {
    need(batch, out);
    if (out->struct_size != sizeof *out) throw Error(Fault::kArgument, "set struct_size of the shape");
    *out = {sizeof *out, batch->count, parts, batch->limbs, batch->slots, batch->scale};
  });
}

/// Throws unless the caller's array has as many elements as the object needs.
void check_length(size_t count, size_t needed, const char* of_what) {
  if (count != needed)
    throw Error(Fault::kArgument, std::string(of_what) + " of this parameter set and shape: " + std::to_string(needed) +
                                      " elements are needed, and the array has " + std::to_string(count));
}

/// Returns the object's words, or NULL for no object and for one that lies on a device, whose words are not here.
template <typename Object>
const uint64_t* words_of(const Object* object, size_t* word_count) {
  const size_t count = object == nullptr ? 0 : object->words.size();
  if (word_count != nullptr) *word_count = count;
  return count == 0 ? nullptr : object->words.data();
}

template <typename Object>
int place_of(const Object* object) {
  return object == nullptr || object->on_device == nullptr ? -1 : device_of(*object)->ordinal();
}

template <typename Handle>
polykem_ckks_status copy_to_device(const polykem_ckks_device* device, const Handle* object, Handle** out) {
  return guarded([&] {
    need(device, object, out);
    give(to_device(device->device, *object), out);
  });
}

template <typename Handle>
polykem_ckks_status copy_to_host(const Handle* object, Handle** out) {
  return guarded([&] {
    need(object, out);
    give(to_host(*object), out);
  });
}

void make_context(const polykem_ckks_parameters& in, polykem_ckks_context** out) {
  if (in.struct_size != sizeof in) throw Error(Fault::kArgument, "set struct_size of the parameters");
  if (in.q_count > kMaxPrimes || in.p_count > kMaxPrimes) throw Error(Fault::kParameters, "there are too many primes");
  if ((in.q == nullptr && in.q_count != 0) || (in.p == nullptr && in.p_count != 0))
    throw Error(Fault::kArgument, "a pointer is NULL");
  const Params params{.log_n = in.log_n,
                      .q = words_at(in.q, in.q_count),
                      .p = words_at(in.p, in.p_count),
                      .q_roots = words_at(in.q_roots, in.q_count),
                      .p_roots = words_at(in.p_roots, in.p_count),
                      .digits = in.digits,
                      .threads = in.threads};
  auto context = std::make_unique<polykem_ckks_context>(params);
  if (!in.allow_insecure && context->security_bits() < 128)
    throw Error(Fault::kInsecure, "a modulus of " + std::to_string(static_cast<int>(std::ceil(context->total_bits()))) +
                                      " bits leaves less than 128 bits of security in this ring: take fewer or smaller "
                                      "primes or a larger ring, or allow it for tests");
  *out = context.release();
}

thread_local char error_text[512];  // not a std::string, whose first use on a thread would need memory

}  // namespace

polykem_ckks_status polykem::ckks::failed(Fault fault, const char* text) noexcept {
  const size_t length = std::min(std::strlen(text), sizeof error_text - 1);
  std::memmove(error_text, text, length);
  error_text[length] = 0;
  return static_cast<polykem_ckks_status>(fault);
}

const char* polykem_ckks_error_text(void) {
  return error_text;
}

polykem_ckks_status polykem_ckks_find_primes(unsigned log_n, unsigned bits, size_t count, const uint64_t* taken,
                                             size_t taken_count, uint64_t* out) {
  return guarded([&] {
    if ((count != 0 && out == nullptr) || (taken_count != 0 && taken == nullptr))
      throw Error(Fault::kArgument, "a pointer is NULL");
    if (log_n < kMinLogN || log_n > kMaxLogN || bits < kMinPrimeBits || bits > kMaxPrimeBits || count > kMaxPrimes)
      throw Error(Fault::kArgument, "log_n is 4 to 16, bits are 14 to 60, and there are at most 128 primes");
    const std::vector<uint64_t> primes = find_primes(log_n, bits, count, words_at(taken, taken_count));
    if (primes.size() < count)
      throw Error(Fault::kParameters, "there are only " + std::to_string(primes.size()) + " such primes");
    std::copy(primes.begin(), primes.end(), out);
  });
}

polykem_ckks_status polykem_ckks_context_new(const polykem_ckks_parameters* parameters, polykem_ckks_context** out) {
  return guarded([&] {
    need(parameters, out);
    make_context(*parameters, out);
  });
}
void polykem_ckks_context_free(polykem_ckks_context* context) {
  delete context;
}
double polykem_ckks_modulus_bits(const polykem_ckks_context* context) {
  return context ? context->total_bits() : 0;
}
size_t polykem_ckks_ring_dimension(const polykem_ckks_context* context) {
  return context ? context->n() : 0;
}
unsigned polykem_ckks_security_bits(const polykem_ckks_context* context) {
  return context ? context->security_bits() : 0;
}
polykem_ckks_status polykem_ckks_prime(const polykem_ckks_context* context, size_t i, uint64_t* prime, uint64_t* root) {
  return guarded([&] {
    need(context, prime, root);
    if (i >= context->primes()) throw Error(Fault::kArgument, "there is no prime of that number");
    *prime = context->modulus(i).value();
    *root = context->ntt(i).psi();
  });
}

polykem_ckks_status polykem_ckks_encode(const polykem_ckks_context* context, const double* values, size_t count,
                                        size_t slots, size_t limbs, double scale, polykem_ckks_plaintexts** out) {
  return guarded([&] {
    need(context, values, out);
    if (count == 0 || slots == 0 || slots > context->n() || count > kMaxWords / slots)
      throw Error(Fault::kArgument, "there must be messages with 1 to N/2 slots");
    give(encode(*context, {numbers_at(values), count * slots}, slots, limbs, scale), out);
  });
}
polykem_ckks_status polykem_ckks_decode(const polykem_ckks_context* context, const polykem_ckks_plaintexts* plaintexts,
                                        double* values, size_t numbers) {
  return guarded([&] {
    need(context, plaintexts, values);
    if (plaintexts->set != context->q_id())
      throw Error(Fault::kArgument, "the plaintext belongs to another parameter set");
    need_on_host(*plaintexts);
    const size_t slots = plaintexts->slots;
    check_length(numbers, plaintexts->count * slots, "the numbers");
    SecretVector<Complex> decoded(numbers);
    context->for_each(plaintexts->count, [&](size_t item) {
      decode(*context, *plaintexts, item, std::span(decoded).subspan(item * slots, slots));
    });
    std::copy(decoded.begin(), decoded.end(), reinterpret_cast<Complex*>(values));
  });
}
void polykem_ckks_plaintexts_free(polykem_ckks_plaintexts* plaintexts) {
  delete plaintexts;
}

polykem_ckks_status polykem_ckks_ciphertexts_shape(const polykem_ckks_ciphertexts* ciphertexts,
                                                   polykem_ckks_shape* out) {
  return shape_of(ciphertexts, ciphertexts ? ciphertexts->parts : 0, out);
}
polykem_ckks_status polykem_ckks_plaintexts_shape(const polykem_ckks_plaintexts* plaintexts, polykem_ckks_shape* out) {
  return shape_of(plaintexts, 1, out);
}
polykem_ckks_status polykem_ckks_ciphertexts_new(const polykem_ckks_context* context, const polykem_ckks_shape* shape,
                                                 const uint64_t* words, size_t word_count,
                                                 polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, shape, words, out);
    const size_t count = checked_words(*context, *shape, 2, 3);
    check_length(word_count, count, "the words of ciphertexts");
    check_rows(*context, words, count / context->n(), shape->limbs);
    give(Ciphertexts{shape->count, shape->parts, shape->limbs, shape->scale, shape->slots, context->n(),
                     context->q_id(), Words(words, words + count)},
         out);
  });
}
polykem_ckks_status polykem_ckks_plaintexts_new(const polykem_ckks_context* context, const polykem_ckks_shape* shape,
                                                const uint64_t* words, size_t word_count,
                                                polykem_ckks_plaintexts** out) {
  return guarded([&] {
    need(context, shape, words, out);
    const size_t count = checked_words(*context, *shape, 1, 1);
    check_length(word_count, count, "the words of plaintexts");
    check_rows(*context, words, count / context->n(), shape->limbs);
    give(Plaintexts{shape->count, shape->limbs, shape->scale, shape->slots, context->n(), context->q_id(),
                    SecretVector<uint64_t>(words, words + count)},
         out);
  });
}
const uint64_t* polykem_ckks_ciphertexts_words(const polykem_ckks_ciphertexts* ciphertexts, size_t* word_count) {
  return words_of(ciphertexts, word_count);
}
const uint64_t* polykem_ckks_plaintexts_words(const polykem_ckks_plaintexts* plaintexts, size_t* word_count) {
  return words_of(plaintexts, word_count);
}
polykem_ckks_status polykem_ckks_with_scale(const polykem_ckks_context* context,
                                            const polykem_ckks_ciphertexts* ciphertexts, double scale,
                                            polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, ciphertexts, out);
    give(with_scale(*context, *ciphertexts, scale), out);
  });
}
void polykem_ckks_ciphertexts_free(polykem_ckks_ciphertexts* ciphertexts) {
  delete ciphertexts;
}

polykem_ckks_status polykem_ckks_secret_key_generate(const polykem_ckks_context* context,
                                                     polykem_ckks_secret_key** out) {
  return guarded([&] {
    need(context, out);
    polykem::Drbg drbg;
    give(make_secret_key(*context, drbg), out);
  });
}
polykem_ckks_status polykem_ckks_secret_key_new(const polykem_ckks_context* context, const uint64_t* row,
                                                size_t word_count, polykem_ckks_secret_key** out) {
  return guarded([&] {
    need(context, row, out);
    check_length(word_count, context->n(), "the row of a secret key");
    check_rows(*context, row, 1, 1);
    give(secret_key_from_row(*context, row), out);
  });
}
const uint64_t* polykem_ckks_secret_key_words(const polykem_ckks_secret_key* key, size_t* word_count) {
  return words_of(key, word_count);
}
void polykem_ckks_secret_key_free(polykem_ckks_secret_key* key) {
  delete key;
}

polykem_ckks_status polykem_ckks_public_key_generate(const polykem_ckks_context* context,
                                                     const polykem_ckks_secret_key* secret,
                                                     polykem_ckks_public_key** out) {
  return guarded([&] {
    need(context, secret, out);
    polykem::Drbg drbg;
    give(make_public_key(*context, *secret, drbg), out);
  });
}
polykem_ckks_status polykem_ckks_public_key_new(const polykem_ckks_context* context, const uint64_t* words,
                                                size_t word_count, polykem_ckks_public_key** out) {
  return guarded([&] {
    need(context, words, out);
    check_length(word_count, 2 * context->limbs() * context->n(), "the words of a public key");
    check_rows(*context, words, 2 * context->limbs(), context->limbs());
    give(PublicKey{context->n(), context->limbs(), context->q_id(), words_at(words, word_count)}, out);
  });
}
const uint64_t* polykem_ckks_public_key_words(const polykem_ckks_public_key* key, size_t* word_count) {
  return words_of(key, word_count);
}
void polykem_ckks_public_key_free(polykem_ckks_public_key* key) {
  delete key;
}

polykem_ckks_status polykem_ckks_relinearisation_key_generate(const polykem_ckks_context* context,
                                                              const polykem_ckks_secret_key* secret,
                                                              polykem_ckks_switching_key** out) {
  return guarded([&] {
    need(context, secret, out);
    polykem::Drbg drbg;
    give(make_relinearisation_key(*context, *secret, drbg), out);
  });
}
polykem_ckks_status polykem_ckks_automorphism_key_generate(const polykem_ckks_context* context,
                                                           const polykem_ckks_secret_key* secret, uint64_t g,
                                                           polykem_ckks_switching_key** out) {
  return guarded([&] {
    need(context, secret, out);
    polykem::Drbg drbg;
    give(make_automorphism_key(*context, *secret, g, drbg), out);
  });
}
polykem_ckks_status polykem_ckks_switching_key_new(const polykem_ckks_context* context, const uint64_t* words,
                                                   size_t word_count, polykem_ckks_switching_key** out) {
  return guarded([&] {
    need(context, words, out);
    if (context->special() == 0)
      throw Error(Fault::kParameters, "the parameter set has no special primes p for key switching");
    const size_t rows = context->digits() * 2 * context->primes();
    check_length(word_count, rows * context->n(), "the words of a switching key");
    check_rows(*context, words, rows, context->primes());
    give(SwitchingKey{context->n(), context->primes(), context->id(), words_at(words, word_count)}, out);
  });
}
const uint64_t* polykem_ckks_switching_key_words(const polykem_ckks_switching_key* key, size_t* word_count) {
  return words_of(key, word_count);
}
void polykem_ckks_switching_key_free(polykem_ckks_switching_key* key) {
  delete key;
}

polykem_ckks_status polykem_ckks_encrypt(const polykem_ckks_context* context, const polykem_ckks_public_key* key,
                                         const polykem_ckks_plaintexts* plaintexts, polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, key, plaintexts, out);
    need_on_host(*plaintexts);
    polykem::Drbg drbg;
    give(encrypt(*context, *key, *plaintexts, drbg), out);
  });
}
polykem_ckks_status polykem_ckks_decrypt(const polykem_ckks_context* context, const polykem_ckks_secret_key* key,
                                         const polykem_ckks_ciphertexts* ciphertexts, polykem_ckks_plaintexts** out) {
  return guarded([&] {
    need(context, key, ciphertexts, out);
    need_on_host(*ciphertexts);
    give(decrypt(*context, *key, *ciphertexts), out);
  });
}

polykem_ckks_status polykem_ckks_combine(const polykem_ckks_context* context, polykem_ckks_operation operation,
                                         const polykem_ckks_ciphertexts* a, const polykem_ckks_ciphertexts* b,
                                         polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, b, out);
    switch (operation) {
      case POLYKEM_CKKS_ADD:
        return give(add(*context, *a, *b), out);
      case POLYKEM_CKKS_SUB:
        return give(sub(*context, *a, *b), out);
      case POLYKEM_CKKS_MUL:
        return give(mul(*context, *a, *b), out);
    }
    throw Error(Fault::kArgument, "there is no such operation");
  });
}
polykem_ckks_status polykem_ckks_combine_plain(const polykem_ckks_context* context, polykem_ckks_operation operation,
                                               const polykem_ckks_ciphertexts* a, const polykem_ckks_plaintexts* b,
                                               polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, b, out);
    switch (operation) {
      case POLYKEM_CKKS_ADD:
        return give(add_plain(*context, *a, *b), out);
      case POLYKEM_CKKS_SUB:
        return give(sub_plain(*context, *a, *b), out);
      case POLYKEM_CKKS_MUL:
        return give(mul_plain(*context, *a, *b), out);
    }
    throw Error(Fault::kArgument, "there is no such operation");
  });
}
polykem_ckks_status polykem_ckks_negate(const polykem_ckks_context* context, const polykem_ckks_ciphertexts* a,
                                        polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, out);
    give(negate(*context, *a), out);
  });
}
polykem_ckks_status polykem_ckks_relinearise(const polykem_ckks_context* context, const polykem_ckks_ciphertexts* a,
                                             const polykem_ckks_switching_key* key, polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, key, out);
    give(relinearise(*context, *a, *key), out);
  });
}
polykem_ckks_status polykem_ckks_rescale(const polykem_ckks_context* context, const polykem_ckks_ciphertexts* a,
                                         polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, out);
    give(rescale(*context, *a), out);
  });
}
polykem_ckks_status polykem_ckks_keep_limbs(const polykem_ckks_context* context, const polykem_ckks_ciphertexts* a,
                                            size_t limbs, polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, out);
    give(keep_limbs(*context, *a, limbs), out);
  });
}
polykem_ckks_status polykem_ckks_items(const polykem_ckks_context* context, const polykem_ckks_ciphertexts* a,
                                       size_t first, size_t count, polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, out);
    give(items(*context, *a, first, count), out);
  });
}
polykem_ckks_status polykem_ckks_automorphism(const polykem_ckks_context* context, const polykem_ckks_ciphertexts* a,
                                              uint64_t g, const polykem_ckks_switching_key* key,
                                              polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, key, out);
    give(automorphism(*context, *a, g, *key), out);
  });
}
polykem_ckks_status polykem_ckks_automorphisms(const polykem_ckks_context* context, const polykem_ckks_ciphertexts* a,
                                               const uint64_t* g, const polykem_ckks_switching_key* const* keys,
                                               size_t count, polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, a, g, keys, out);
    const std::vector<const SwitchingKey*> of_g = keys_at(keys, count);
    std::vector<std::unique_ptr<polykem_ckks_ciphertexts>> made;
    for (Ciphertexts& one : automorphisms(*context, *a, {g, count}, of_g)) {
      made.push_back(std::make_unique<polykem_ckks_ciphertexts>());
      static_cast<Ciphertexts&>(*made.back()) = std::move(one);
    }
    for (size_t i = 0; i < count; ++i)
      out[i] = made[i].release();
  });
}
uint64_t polykem_ckks_rotation_element(const polykem_ckks_context* context, long steps) {
  return context ? rotation_element(*context, steps) : 0;
}
uint64_t polykem_ckks_conjugation_element(const polykem_ckks_context* context) {
  return context ? 2 * context->n() - 1 : 0;
}

polykem_ckks_status polykem_ckks_chebyshev_new(const double* coefficients, size_t count, double a, double b,
                                               polykem_ckks_chebyshev** out) {
  return guarded([&] {
    need(coefficients, out);
    if (count > kMaxWords) throw Error(Fault::kArgument, "there are too many coefficients");
    *out = new polykem_ckks_chebyshev({numbers_at(coefficients), count}, a, b);
  });
}
void polykem_ckks_chebyshev_free(polykem_ckks_chebyshev* polynomial) {
  delete polynomial;
}
size_t polykem_ckks_chebyshev_levels(const polykem_ckks_chebyshev* polynomial) {
  return polynomial ? polynomial->levels() : 0;
}
polykem_ckks_status polykem_ckks_chebyshev_apply(const polykem_ckks_context* context,
                                                 const polykem_ckks_chebyshev* polynomial,
                                                 const polykem_ckks_ciphertexts* x,
                                                 const polykem_ckks_switching_key* key, size_t limbs_per_level,
                                                 polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, polynomial, x, key, out);
    give(polynomial->apply(*context, *x, *key, limbs_per_level), out);
  });
}

polykem_ckks_status polykem_ckks_transform_new(const polykem_ckks_context* context, const long* numbers, size_t count,
                                               const double* diagonals, size_t slots, size_t limbs,
                                               size_t limbs_per_level, polykem_ckks_transform** out) {
  return guarded([&] {
    need(context, numbers, diagonals, out);
    if (slots > context->n() || (slots != 0 && count > kMaxWords / slots))
      throw Error(Fault::kArgument, "there must be diagonals of 1 to N/2 slots");
    *out = new polykem_ckks_transform(*context, {numbers, count}, {numbers_at(diagonals), count * slots}, slots, limbs,
                                      limbs_per_level);
  });
}
void polykem_ckks_transform_free(polykem_ckks_transform* transform) {
  delete transform;
}
size_t polykem_ckks_transform_rotation_count(const polykem_ckks_transform* transform) {
  return transform ? transform->rotations().size() : 0;
}
polykem_ckks_status polykem_ckks_transform_rotations(const polykem_ckks_transform* transform, long* steps,
                                                     size_t count) {
  return guarded([&] {
    need(transform);
    check_length(count, transform->rotations().size(), "the rotations");
    if (count != 0) need(steps);
    std::copy(transform->rotations().begin(), transform->rotations().end(), steps);
  });
}
polykem_ckks_status polykem_ckks_transform_apply(const polykem_ckks_context* context,
                                                 const polykem_ckks_transform* transform,
                                                 const polykem_ckks_ciphertexts* a,
                                                 const polykem_ckks_switching_key* const* keys, size_t count,
                                                 polykem_ckks_ciphertexts** out) {
  return guarded([&] {
    need(context, transform, a, out);
    check_length(count, transform->rotations().size(), "the keys");
    give(transform->apply(*context, *a, keys_at(keys, count)), out);
  });
}

polykem_ckks_status polykem_ckks_device_open(const polykem_ckks_context* context, int ordinal, size_t scratch_bytes,
                                             polykem_ckks_device** out) {
  return guarded([&] {
    need(context, out);
    *out = new polykem_ckks_device{Device::open(*context, ordinal, scratch_bytes)};
  });
}
polykem_ckks_status polykem_ckks_device_wait(const polykem_ckks_device* device) {
  return guarded([&] {
    need(device);
    device->device->wait();
  });
}
void polykem_ckks_device_free(polykem_ckks_device* device) {
  delete device;
}
polykem_ckks_status polykem_ckks_ciphertexts_to_device(const polykem_ckks_device* device,
                                                       const polykem_ckks_ciphertexts* ciphertexts,
                                                       polykem_ckks_ciphertexts** out) {
  return copy_to_device(device, ciphertexts, out);
}
polykem_ckks_status polykem_ckks_plaintexts_to_device(const polykem_ckks_device* device,
                                                      const polykem_ckks_plaintexts* plaintexts,
                                                      polykem_ckks_plaintexts** out) {
  return copy_to_device(device, plaintexts, out);
}
polykem_ckks_status polykem_ckks_switching_key_to_device(const polykem_ckks_device* device,
                                                         const polykem_ckks_switching_key* key,
                                                         polykem_ckks_switching_key** out) {
  return copy_to_device(device, key, out);
}
polykem_ckks_status polykem_ckks_ciphertexts_to_host(const polykem_ckks_ciphertexts* ciphertexts,
                                                     polykem_ckks_ciphertexts** out) {
  return copy_to_host(ciphertexts, out);
}
polykem_ckks_status polykem_ckks_plaintexts_to_host(const polykem_ckks_plaintexts* plaintexts,
                                                    polykem_ckks_plaintexts** out) {
  return copy_to_host(plaintexts, out);
}
polykem_ckks_status polykem_ckks_transform_to_device(const polykem_ckks_device* device,
                                                     const polykem_ckks_transform* transform,
                                                     polykem_ckks_transform** out) {
  return guarded([&] {
    need(device, transform, out);
    *out = new polykem_ckks_transform(transform->on_device(device->device));
  });
}
int polykem_ckks_ciphertexts_place(const polykem_ckks_ciphertexts* ciphertexts) {
  return place_of(ciphertexts);
}
int polykem_ckks_plaintexts_place(const polykem_ckks_plaintexts* plaintexts) {
  return place_of(plaintexts);
}
int polykem_ckks_switching_key_place(const polykem_ckks_switching_key* key) {
  return place_of(key);
}
