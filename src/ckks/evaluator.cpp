// SPDX-License-Identifier: Apache-2.0
#include "ckks/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "ckks/error.hpp"
#include "ckks/key_switch.hpp"

namespace polykem::ckks {

namespace {

std::string of(size_t a, size_t b) {
  return std::to_string(a) + " and " + std::to_string(b);
}

bool scales_match(double a, double b) {
  return std::abs(a - b) <= kScaleTolerance * std::abs(a);
}

template <typename Batch>
void check_set(const Context& context, const Batch& batch) {
  if (batch.set != context.q_id()) throw Error(Fault::argument, "the operand belongs to another parameter set");
}

void check_scales(double a, double b) {
  if (!scales_match(a, b))
    throw Error(Fault::scales, "the operands' scales differ: " + std::to_string(a) + " and " + std::to_string(b) +
                                   "; rescale both alike, or set a scale if the difference does not matter");
}

double product_of_scales(double a, double b) {
  const double scale = a * b;
  if (!std::isnormal(scale)) throw Error(Fault::scales, "the product's scale is out of range: rescale the operands");
  return scale;
}

void check_alike(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  check_set(context, a);
  check_set(context, b);
  if (a.count != b.count) throw Error(Fault::argument, "the batches have " + of(a.count, b.count) + " ciphertexts");
  if (a.limbs != b.limbs)
    throw Error(Fault::levels, "the operands have " + of(a.limbs, b.limbs) + " limbs; drop those of the longer one");
}

void check_alike(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  check_set(context, a);
  check_set(context, b);
  if (b.count != 1 && b.count != a.count)
    throw Error(Fault::argument,
                "the batches have " + of(a.count, b.count) + " items; a plaintext is one or one for each");
  if (b.limbs < a.limbs)
    throw Error(Fault::levels, "the plaintext has fewer limbs than the ciphertext: " + of(b.limbs, a.limbs));
}

/// As `like`, without values.
Ciphertexts shaped(const Ciphertexts& like, size_t parts, size_t limbs) {
  Ciphertexts out{.count = like.count,
                  .parts = parts,
                  .limbs = limbs,
                  .scale = like.scale,
                  .slots = like.slots,
                  .n = like.n,
                  .set = like.set,
                  .words = {}};
  out.words.resize(out.count * parts * limbs * out.n);
  return out;
}

/// Calls work(item, limb) for all of them.
template <typename Work>
void for_each_limb(const Context& context, const Ciphertexts& a, const Work& work) {
  context.for_each(a.count * a.limbs, [&](size_t i) { work(i / a.limbs, i % a.limbs); });
}

/// out[k] = f(modulus, a[k], b[k])
template <typename Function>
void map_rows(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out, Function f) {
  for (size_t k = 0; k < n; ++k)
    out[k] = f(m, a[k], b[k]);
}

constexpr auto kAdd = [](const Modulus& m, uint64_t a, uint64_t b) { return m.add(a, b); };
constexpr auto kSub = [](const Modulus& m, uint64_t a, uint64_t b) { return m.sub(a, b); };
constexpr auto kMul = [](const Modulus& m, uint64_t a, uint64_t b) { return m.mul(a, b); };

template <typename Function>
Ciphertexts combine(const Context& context, const Ciphertexts& a, const Ciphertexts& b, Function f) {
  check_alike(context, a, b);
  check_scales(a.scale, b.scale);
  if (a.parts != b.parts)
    throw Error(Fault::parts, "the operands have " + of(a.parts, b.parts) + " parts; relinearise the longer one");
  Ciphertexts out = shaped(a, a.parts, a.limbs);
  out.slots = std::max(a.slots, b.slots);
  for_each_limb(context, a, [&](size_t item, size_t limb) {
    for (size_t part = 0; part < a.parts; ++part)
      map_rows(context.modulus(limb), a.n, a.row(item, part, limb), b.row(item, part, limb), out.row(item, part, limb),
               f);
  });
  return out;
}

/// f on the first `parts` parts of a.
template <typename Function>
Ciphertexts combine_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b, size_t parts, Function f) {
  check_alike(context, a, b);
  Ciphertexts out = a;
  out.slots = std::max(a.slots, b.slots);
  for_each_limb(context, a, [&](size_t item, size_t limb) {
    for (size_t part = 0; part < parts; ++part)
      map_rows(context.modulus(limb), a.n, a.row(item, part, limb), b.row(b.count == 1 ? 0 : item, limb),
               out.row(item, part, limb), f);
  });
  return out;
}

/// (c0, c1, c2) of a row: the product of the polynomials a0 + a1 s and b0 + b1 s in s.
void tensor(const Modulus& m, size_t n, const uint64_t* const a[2], const uint64_t* const b[2],
            uint64_t* const out[3]) {
  for (size_t k = 0; k < n; ++k) {
    const uint64_t a0 = a[0][k], a1 = a[1][k], b0 = b[0][k], b1 = b[1][k];
    out[0][k] = m.mul(a0, b0);
    out[1][k] = m.reduce(Wide{a0} * b1 + Wide{a1} * b0);
    out[2][k] = m.mul(a1, b1);
  }
}

/// One row of a rescaling: (c - r) / q_last, r the last limb's coefficients in [-q_last / 2, q_last / 2].
void rescale_row(const Context& context, size_t limb, size_t last, const uint64_t* r, const uint64_t* in,
                 uint64_t* out) {
  const Modulus& m = context.modulus(limb);
  const uint64_t q_last = context.modulus(last).value();
  const uint64_t q_mod = m.reduce(q_last);
  for (size_t k = 0; k < context.n(); ++k) {
    const uint64_t negative = 0 - static_cast<uint64_t>(r[k] > q_last / 2);
    out[k] = m.sub(m.reduce(r[k]), q_mod & negative);
  }
  context.ntt(limb).forward(out);
  const Factor inverse = m.factor(m.inverse(q_mod));
  for (size_t k = 0; k < context.n(); ++k)
    out[k] = m.mul(m.sub(in[k], out[k]), inverse);
}

}  // namespace

Ciphertexts add(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  return combine(context, a, b, kAdd);
}

Ciphertexts sub(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  return combine(context, a, b, kSub);
}

Ciphertexts negate(const Context& context, const Ciphertexts& a) {
  check_set(context, a);
  Ciphertexts out = a;
  for_each_limb(context, a, [&](size_t item, size_t limb) {
    for (size_t part = 0; part < a.parts; ++part)
      for (size_t k = 0; k < a.n; ++k)
        out.row(item, part, limb)[k] = context.modulus(limb).negate(a.row(item, part, limb)[k]);
  });
  return out;
}

Ciphertexts add_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  check_scales(a.scale, b.scale);
  return combine_plain(context, a, b, 1, kAdd);
}

Ciphertexts sub_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  check_scales(a.scale, b.scale);
  return combine_plain(context, a, b, 1, kSub);
}

Ciphertexts mul_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b) {
  const double scale = product_of_scales(a.scale, b.scale);
  Ciphertexts out = combine_plain(context, a, b, a.parts, kMul);
  out.scale = scale;
  return out;
}

Ciphertexts mul(const Context& context, const Ciphertexts& a, const Ciphertexts& b) {
  check_alike(context, a, b);
  if (a.parts != 2 || b.parts != 2)
    throw Error(Fault::parts, "a product takes ciphertexts of two parts: relinearise products first");
  Ciphertexts out = shaped(a, 3, a.limbs);
  out.slots = std::max(a.slots, b.slots);
  out.scale = product_of_scales(a.scale, b.scale);
  for_each_limb(context, a, [&](size_t item, size_t limb) {
    const uint64_t* const x[2] = {a.row(item, 0, limb), a.row(item, 1, limb)};
    const uint64_t* const y[2] = {b.row(item, 0, limb), b.row(item, 1, limb)};
    uint64_t* const z[3] = {out.row(item, 0, limb), out.row(item, 1, limb), out.row(item, 2, limb)};
    tensor(context.modulus(limb), a.n, x, y, z);
  });
  return out;
}

Ciphertexts relinearise(const Context& context, const Ciphertexts& a, const SwitchingKey& key) {
  check_set(context, a);
  if (a.parts != 3) throw Error(Fault::parts, "only a product, which has three parts, is relinearised");
  Ciphertexts out = shaped(a, 2, a.limbs);
  for (size_t item = 0; item < a.count; ++item) {
    key_switch(context, key, a.limbs, a.row(item, 2, 0), 1, out.row(item, 0, 0), out.row(item, 1, 0));
    context.for_each(2 * a.limbs, [&](size_t i) {
      uint64_t* const row = out.row(item, i / a.limbs, i % a.limbs);
      map_rows(context.modulus(i % a.limbs), a.n, a.row(item, i / a.limbs, i % a.limbs), row, row, kAdd);
    });
  }
  return out;
}

Ciphertexts rescale(const Context& context, const Ciphertexts& a) {
  check_set(context, a);
  if (a.limbs < 2) throw Error(Fault::no_level, "no level is left: the ciphertext has one limb, which rescaling needs");
  const size_t last = a.limbs - 1;
  Ciphertexts out = shaped(a, a.parts, last);
  out.scale = a.scale / static_cast<double>(context.modulus(last).value());
  std::vector<uint64_t> r(a.count * a.parts * a.n);
  context.for_each(a.count * a.parts, [&](size_t i) {
    const uint64_t* const from = a.row(i / a.parts, i % a.parts, last);
    std::copy(from, from + a.n, &r[i * a.n]);
    context.ntt(last).inverse(&r[i * a.n]);
  });
  context.for_each(a.count * a.parts * last, [&](size_t i) {
    const size_t item = i / last / a.parts, part = i / last % a.parts, limb = i % last;
    rescale_row(context, limb, last, &r[(item * a.parts + part) * a.n], a.row(item, part, limb),
                out.row(item, part, limb));
  });
  return out;
}

Ciphertexts keep_limbs(const Context& context, const Ciphertexts& a, size_t limbs) {
  check_set(context, a);
  if (limbs == 0 || limbs > a.limbs)
    throw Error(Fault::levels, "1 to " + std::to_string(a.limbs) + " limbs can be kept, not " + std::to_string(limbs));
  Ciphertexts out = shaped(a, a.parts, limbs);
  for (size_t item = 0; item < a.count; ++item)
    for (size_t part = 0; part < a.parts; ++part)
      std::copy(a.row(item, part, 0), a.row(item, part, 0) + limbs * a.n, out.row(item, part, 0));
  return out;
}

Ciphertexts automorphism(const Context& context, const Ciphertexts& a, uint64_t g, const SwitchingKey& key) {
  check_set(context, a);
  if (a.parts != 2) throw Error(Fault::parts, "relinearise a product before its slots are moved");
  if (g % 2 == 0 || g >= 2 * a.n) throw Error(Fault::argument, "an automorphism's g is odd and below 2N");
  Ciphertexts out = shaped(a, 2, a.limbs);
  for (size_t item = 0; item < a.count; ++item) {
    key_switch(context, key, a.limbs, a.row(item, 1, 0), g, out.row(item, 0, 0), out.row(item, 1, 0));
    context.for_each(a.limbs, [&](size_t limb) {
      std::vector<uint64_t> moved(a.n);
      permute(context, g, a.row(item, 0, limb), moved.data());
      map_rows(context.modulus(limb), a.n, moved.data(), out.row(item, 0, limb), out.row(item, 0, limb), kAdd);
    });
  }
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
