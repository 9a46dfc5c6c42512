// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/host_backend.hpp"

#include <algorithm>

#include "ckks/src/key_switch.hpp"

namespace polykem::ckks {

namespace {

/// Calls work(item, limb) for every limb of every item.
template <typename Work>
void for_each_limb(const Context& context, const Ciphertexts& a, const Work& work) {
  context.for_each(a.count * a.limbs, [&](size_t i) { work(i / a.limbs, i % a.limbs); });
}

/// Computes out[k] = f(modulus, a[k], b[k]).
template <typename Function>
void map_rows(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out, Function f) {
  for (size_t k = 0; k < n; ++k)
    out[k] = f(m, a[k], b[k]);
}

constexpr auto kAdd = [](const Modulus& m, uint64_t a, uint64_t b) { return m.add(a, b); };
constexpr auto kSub = [](const Modulus& m, uint64_t a, uint64_t b) { return m.sub(a, b); };
constexpr auto kMul = [](const Modulus& m, uint64_t a, uint64_t b) { return m.mul(a, b); };

void combine_rows(Operation operation, const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b,
                  uint64_t* out) {
  switch (operation) {
    case Operation::kAdd:
      return map_rows(m, n, a, b, out, kAdd);
    case Operation::kSubtract:
      return map_rows(m, n, a, b, out, kSub);
    case Operation::kMultiply:
      return map_rows(m, n, a, b, out, kMul);
  }
}

/// Computes (c0, c1, c2) of a row: the product of the polynomials a0 + a1 s and b0 + b1 s in s.
void tensor_rows(const Modulus& m, size_t n, const uint64_t* const a[2], const uint64_t* const b[2],
                 uint64_t* const out[3]) {
  for (size_t k = 0; k < n; ++k) {
    const uint64_t a0 = a[0][k], a1 = a[1][k], b0 = b[0][k], b1 = b[1][k];
    out[0][k] = m.mul(a0, b0);
    out[1][k] = m.reduce(Wide{a0} * b1 + Wide{a1} * b0);
    out[2][k] = m.mul(a1, b1);
  }
}

/// Computes one row of a rescaling: (c - r) / q_last, where r are the last limb's coefficients in [-q_last / 2,
/// q_last / 2].
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

void HostBackend::allocate(Ciphertexts& out) const {
  out.words.resize(out.count * out.parts * out.limbs * out.n);
}

void HostBackend::combine(Operation operation, const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const {
  for_each_limb(context_, a, [&](size_t item, size_t limb) {
    for (size_t part = 0; part < a.parts; ++part)
      combine_rows(operation, context_.modulus(limb), a.n, a.row(item, part, limb), b.row(item, part, limb),
                   out.row(item, part, limb));
  });
}

void HostBackend::combine_plain(Operation operation, const Ciphertexts& a, const Plaintexts& b,
                                Ciphertexts& out) const {
  const size_t parts = operation == Operation::kMultiply ? a.parts : 1;
  for_each_limb(context_, a, [&](size_t item, size_t limb) {
    for (size_t part = 0; part < a.parts; ++part) {
      const uint64_t* const from = a.row(item, part, limb);
      if (part < parts)
        combine_rows(operation, context_.modulus(limb), a.n, from, b.row(b.count == 1 ? 0 : item, limb),
                     out.row(item, part, limb));
      else
        std::copy(from, from + a.n, out.row(item, part, limb));
    }
  });
}

void HostBackend::negate(const Ciphertexts& a, Ciphertexts& out) const {
  for_each_limb(context_, a, [&](size_t item, size_t limb) {
    const Modulus& m = context_.modulus(limb);
    for (size_t part = 0; part < a.parts; ++part)
      std::transform(a.row(item, part, limb), a.row(item, part, limb) + a.n, out.row(item, part, limb),
                     [&m](uint64_t x) { return m.negate(x); });
  });
}

void HostBackend::tensor(const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const {
  for_each_limb(context_, a, [&](size_t item, size_t limb) {
    const uint64_t* const x[2] = {a.row(item, 0, limb), a.row(item, 1, limb)};
    const uint64_t* const y[2] = {b.row(item, 0, limb), b.row(item, 1, limb)};
    uint64_t* const z[3] = {out.row(item, 0, limb), out.row(item, 1, limb), out.row(item, 2, limb)};
    tensor_rows(context_.modulus(limb), a.n, x, y, z);
  });
}

void HostBackend::relinearise(const Ciphertexts& a, const SwitchingKey& key, Ciphertexts& out) const {
  for (size_t item = 0; item < a.count; ++item) {
    key_switch(context_, key, a.limbs, a.row(item, 2, 0), 1, out.row(item, 0, 0), out.row(item, 1, 0));
    context_.for_each(2 * a.limbs, [&](size_t i) {
      uint64_t* const row = out.row(item, i / a.limbs, i % a.limbs);
      map_rows(context_.modulus(i % a.limbs), a.n, a.row(item, i / a.limbs, i % a.limbs), row, row, kAdd);
    });
  }
}

void HostBackend::automorphism(const Ciphertexts& a, uint64_t g, const SwitchingKey& key, Ciphertexts& out) const {
  for (size_t item = 0; item < a.count; ++item) {
    key_switch(context_, key, a.limbs, a.row(item, 1, 0), g, out.row(item, 0, 0), out.row(item, 1, 0));
    context_.for_each(a.limbs, [&](size_t limb) {
      std::vector<uint64_t> moved(a.n);
      permute(context_, g, a.row(item, 0, limb), moved.data());
      map_rows(context_.modulus(limb), a.n, moved.data(), out.row(item, 0, limb), out.row(item, 0, limb), kAdd);
    });
  }
}

void HostBackend::rescale(const Ciphertexts& a, Ciphertexts& out) const {
  const size_t last = a.limbs - 1;
  std::vector<uint64_t> r(a.count * a.parts * a.n);
  context_.for_each(a.count * a.parts, [&](size_t i) {
    const uint64_t* const from = a.row(i / a.parts, i % a.parts, last);
    std::copy(from, from + a.n, &r[i * a.n]);
    context_.ntt(last).inverse(&r[i * a.n]);
  });
  context_.for_each(a.count * a.parts * last, [&](size_t i) {
    const size_t item = i / last / a.parts, part = i / last % a.parts, limb = i % last;
    rescale_row(context_, limb, last, &r[(item * a.parts + part) * a.n], a.row(item, part, limb),
                out.row(item, part, limb));
  });
}

void HostBackend::select(const Ciphertexts& a, size_t first, Ciphertexts& out) const {
  for (size_t item = 0; item < out.count; ++item)
    for (size_t part = 0; part < a.parts; ++part) {
      const uint64_t* const from = a.row(first + item, part, 0);
      std::copy(from, from + out.limbs * a.n, out.row(item, part, 0));
    }
}

}  // namespace polykem::ckks
