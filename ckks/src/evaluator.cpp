// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "ckks/src/device.hpp"
#include "ckks/src/error.hpp"
#include "ckks/src/host_backend.hpp"

namespace polykem::ckks {

namespace {

std::string joined_by_and(size_t a, size_t b) {
  return std::to_string(a) + " and " + std::to_string(b);
}

bool scales_match(double a, double b) {
  return std::abs(a - b) <= kScaleTolerance * std::abs(a);
}

void check_scales(double a, double b) {
  if (!scales_match(a, b))
    throw Error(Fault::kScales, "the operands' scales differ: " + power_of_two(std::log2(a)) + " and " +
                                    power_of_two(std::log2(b)) + ", by " +
                                    power_of_two(std::log2(std::abs(a - b) / a)) +
                                    " of the first: rescale the larger one, align one "
                                    "to the other, or with_scale if the difference does not matter");
}

double product_of_scales(const Context& context, double a, double b, size_t limbs) {
  const double scale = a * b;
  if (!std::isnormal(scale)) throw Error(Fault::kScales, "the product's scale is out of range: rescale the operands");
  context.check_scale(scale, limbs);
  return scale;
}

void check_alike(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  check_set(context, a);
  check_set(context, b);
  if (a.count != b.count)
    throw Error(Fault::kArgument, "the batches have " + joined_by_and(a.count, b.count) + " ciphertexts");
  if (a.limbs != b.limbs)
    throw Error(Fault::kLevels, "the operands have " + joined_by_and(a.limbs, b.limbs) +
                                    " limbs: align the longer one, or keep_limbs of it");
}

void check_alike(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  check_set(context, a);
  check_set(context, b);
  if (b.count != 1 && b.count != a.count)
    throw Error(Fault::kArgument,
                "the batches have " + joined_by_and(a.count, b.count) + " items; a plaintext is one or one for each");
  if (b.limbs < a.limbs)
    throw Error(Fault::kLevels,
                "the plaintext has fewer limbs than the ciphertext: " + joined_by_and(b.limbs, a.limbs));
}

void check_key(const Context& context, const SwitchingKey& key) {
  const size_t words = key.on_device != nullptr ? key.on_device->count() : key.words.size();
  if (key.set != context.id() || words != context.digits() * 2 * context.primes() * context.n())
    throw Error(Fault::kArgument, "the key belongs to another parameter set");
}

/// Returns a batch like `like`, without words.
Ciphertexts shaped(const Ciphertexts& like, size_t parts, size_t limbs) {
  return {.count = like.count,
          .parts = parts,
          .limbs = limbs,
          .scale = like.scale,
          .slots = like.slots,
          .n = like.n,
          .set = like.set,
          .words = {}};
}

/// Returns the device where all operands lie, or nullptr for main memory.
template <typename... Others>
const Device* place_of(const Ciphertexts& first, const Others&... others) {
  const Device* const place = device_of(first);
  if (((device_of(others) != place) || ...))
    throw Error(Fault::kDevice,
                "the operands lie in different places: copy all of them, and keys, to one device or to main memory");
  return place;
}

/// Calls work(backend) with the backend of that place.
template <typename Work>
void with_backend(const Context& context, const Device* place, const Work& work) {
  const HostBackend host(context);
  work(place != nullptr ? static_cast<const Backend&>(*place) : host);
}

/// Returns `out` with its words, which work(backend, out) computes at that place.
template <typename Work>
Ciphertexts computed(const Context& context, const Device* place, Ciphertexts out, const Work& work) {
  with_backend(context, place, [&](const Backend& backend) {
    backend.allocate(out);
    work(backend, out);
  });
  return out;
}

void check_automorphism(const Context& context, const Ciphertexts& a, uint64_t g, const SwitchingKey& key) {
  check_set(context, a);
  if (a.parts != 2) throw Error(Fault::kParts, "relinearise a product before its slots are moved");
  if (g % 2 == 0 || g >= 2 * a.n) throw Error(Fault::kArgument, "an automorphism's g is odd and below 2N");
  check_key(context, key);
}

Ciphertexts combine(const Context& context, Operation operation, const Ciphertexts& a, const Ciphertexts& b) {
  check_alike(context, a, b);
  check_scales(a.scale, b.scale);
  if (a.parts != b.parts)
    throw Error(Fault::kParts,
                "the operands have " + joined_by_and(a.parts, b.parts) + " parts; relinearise the longer one");
  Ciphertexts shape = shaped(a, a.parts, a.limbs);
  shape.slots = std::max(a.slots, b.slots);
  return computed(context, place_of(a, b), std::move(shape),
                  [&](const Backend& backend, Ciphertexts& out) { backend.combine(operation, a, b, out); });
}

Ciphertexts combine_plain(const Context& context, Operation operation, const Ciphertexts& a, const Plaintexts& b,
                          double scale) {
  check_alike(context, a, b);
  Ciphertexts shape = shaped(a, a.parts, a.limbs);
  shape.slots = std::max(a.slots, b.slots);
  shape.scale = scale;
  return computed(context, place_of(a, b), std::move(shape),
                  [&](const Backend& backend, Ciphertexts& out) { backend.combine_plain(operation, a, b, out); });
}

}  // namespace

Ciphertexts add(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  return combine(context, Operation::kAdd, a, b);
}

Ciphertexts sub(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  return combine(context, Operation::kSubtract, a, b);
}

Ciphertexts negate(const Context& context, const Ciphertexts& a) {
  check_set(context, a);
  return computed(context, place_of(a), shaped(a, a.parts, a.limbs),
                  [&](const Backend& backend, Ciphertexts& out) { backend.negate(a, out); });
}

Ciphertexts add_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  check_scales(a.scale, b.scale);
  return combine_plain(context, Operation::kAdd, a, b, a.scale);
}

Ciphertexts sub_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  check_scales(a.scale, b.scale);
  return combine_plain(context, Operation::kSubtract, a, b, a.scale);
}

Ciphertexts mul_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  return combine_plain(context, Operation::kMultiply, a, b, product_of_scales(context, a.scale, b.scale, a.limbs));
}

Ciphertexts mul(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  check_alike(context, a, b);
  if (a.parts != 2 || b.parts != 2)
    throw Error(Fault::kParts, "a product takes ciphertexts of two parts: relinearise products first");
  Ciphertexts shape = shaped(a, 3, a.limbs);
  shape.slots = std::max(a.slots, b.slots);
  shape.scale = product_of_scales(context, a.scale, b.scale, a.limbs);
  return computed(context, place_of(a, b), std::move(shape),
                  [&](const Backend& backend, Ciphertexts& out) { backend.tensor(a, b, out); });
}

Ciphertexts relinearise(const Context& context, const Ciphertexts& a, const SwitchingKey& key) {
  check_set(context, a);
  if (a.parts != 3) throw Error(Fault::kParts, "only a product, which has three parts, is relinearised");
  check_key(context, key);
  return computed(context, place_of(a, key), shaped(a, 2, a.limbs),
                  [&](const Backend& backend, Ciphertexts& out) { backend.relinearise(a, key, out); });
}

Ciphertexts rescale(const Context& context, const Ciphertexts& a) {
  check_set(context, a);
  if (a.limbs < 2) throw Error(Fault::kNoLevel, "no level is left: the ciphertext has one limb, which rescaling needs");
  Ciphertexts shape = shaped(a, a.parts, a.limbs - 1);
  shape.scale = a.scale / static_cast<double>(context.modulus(a.limbs - 1).value());
  return computed(context, place_of(a), std::move(shape),
                  [&](const Backend& backend, Ciphertexts& out) { backend.rescale(a, out); });
}

Ciphertexts keep_limbs(const Context& context, const Ciphertexts& a, size_t limbs) {
  check_set(context, a);
  if (limbs == 0 || limbs > a.limbs)
    throw Error(Fault::kLevels, "1 to " + std::to_string(a.limbs) + " limbs can be kept, not " + std::to_string(limbs));
  context.check_scale(a.scale, limbs);
  return computed(context, place_of(a), shaped(a, a.parts, limbs),
                  [&](const Backend& backend, Ciphertexts& out) { backend.select(a, 0, out); });
}

Ciphertexts with_scale(const Context& context, const Ciphertexts& a, double scale) {
  check_set(context, a);
  context.check_scale(scale, a.limbs);
  Ciphertexts out = a;
  out.scale = scale;
  return out;
}

Ciphertexts items(const Context& context, const Ciphertexts& a, size_t first, size_t count) {
  check_set(context, a);
  if (count == 0 || count > a.count || first > a.count - count)
    throw Error(Fault::kArgument, "the batch has the items 0 to " + std::to_string(a.count - 1) + "; take one or more");
  Ciphertexts shape = shaped(a, a.parts, a.limbs);
  shape.count = count;
  return computed(context, place_of(a), std::move(shape),
                  [&](const Backend& backend, Ciphertexts& out) { backend.select(a, first, out); });
}

Ciphertexts automorphism(const Context& context, const Ciphertexts& a, uint64_t g, const SwitchingKey& key) {
  check_automorphism(context, a, g, key);
  return computed(context, place_of(a, key), shaped(a, 2, a.limbs),
                  [&](const Backend& backend, Ciphertexts& out) { backend.automorphism(a, g, key, out); });
}

std::vector<Ciphertexts> automorphisms(const Context& context, const Ciphertexts& a, std::span<const uint64_t> gs,
                                       std::span<const SwitchingKey* const> keys) {
  const Device* const place = place_of(a);
  for (size_t i = 0; i < gs.size(); ++i) {
    check_automorphism(context, a, gs[i], *keys[i]);
    place_of(a, *keys[i]);
  }
  std::vector<Ciphertexts> out(gs.size(), shaped(a, 2, a.limbs));
  with_backend(context, place, [&](const Backend& backend) {
    for (Ciphertexts& ciphertexts : out)
      backend.allocate(ciphertexts);
    backend.automorphisms(a, gs, keys, out);
  });
  return out;
}

uint64_t rotation_element(const Context& context, long steps) {
  const auto slots = static_cast<long>(context.n() / 2);
  const auto times = static_cast<size_t>((steps % slots + slots) % slots);
  uint64_t g = 1;
  for (size_t i = 0; i < times; ++i)
    g = g * 5 % (2 * context.n());
  return g;
}

}  // namespace polykem::ckks
