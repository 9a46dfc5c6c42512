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

void combine_rows(Operation operation, const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b,
                  uint64_t* out) {
  switch (operation) {
    case Operation::kAdd:
      return rows().add(m, n, a, b, out);
    case Operation::kSubtract:
      return rows().sub(m, n, a, b, out);
    case Operation::kMultiply:
      return rows().multiply(m, n, &a, &b, 1, out);
  }
}

/// Computes (c0, c1, c2) of a row: the product of the polynomials a0 + a1 s and b0 + b1 s in s.
void tensor_rows(const Modulus& m, size_t n, const uint64_t* const a[2], const uint64_t* const b[2],
                 uint64_t* const out[3]) {
  const uint64_t* const b_swapped[2] = {b[1], b[0]};
  rows().multiply(m, n, a, b, 1, out[0]);
  rows().multiply(m, n, a, b_swapped, 2, out[1]);
  rows().multiply(m, n, a + 1, b + 1, 1, out[2]);
}

/// Computes one row of a rescaling: (c - r) / q_last, where r are the last limb's coefficients in [-q_last / 2,
/// q_last / 2].
void rescale_row(const Context& context, size_t limb, size_t last, const uint64_t* r, const uint64_t* in,
                 uint64_t* out) {
  const Modulus& m = context.modulus(limb);
  rows().centre(m, context.n(), r, context.modulus(last).value(), out);
  context.ntt(limb).forward(out);
  rows().sub_scale(m, context.n(), in, out, context.inverse_q(last, limb), out);
}

/// Returns what an automorphism does to an item.
Switched moved(const Ciphertexts& a, size_t item, Ciphertexts& out) {
  return {a.row(item, 1, 0), {a.row(item, 0, 0), nullptr}, {out.row(item, 0, 0), out.row(item, 1, 0)}};
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
  std::vector<Switched> polynomials;
  for (size_t item = 0; item < a.count; ++item)
    polynomials.push_back(
        {a.row(item, 2, 0), {a.row(item, 0, 0), a.row(item, 1, 0)}, {out.row(item, 0, 0), out.row(item, 1, 0)}});
  key_switch(context_, key, a.limbs, 1, polynomials);
}

void HostBackend::automorphism(const Ciphertexts& a, uint64_t g, const SwitchingKey& key, Ciphertexts& out) const {
  std::vector<Switched> polynomials;
  for (size_t item = 0; item < a.count; ++item)
    polynomials.push_back(moved(a, item, out));
  key_switch(context_, key, a.limbs, g, polynomials);
}

void HostBackend::automorphisms(const Ciphertexts& a, std::span<const uint64_t> gs,
                                std::span<const SwitchingKey* const> keys, std::span<Ciphertexts> out) const {
  for (size_t item = 0; item < a.count; ++item) {
    const Raised raised(context_, a.limbs, a.row(item, 1, 0));
    for (size_t i = 0; i < gs.size(); ++i)
      raised.key_switch(*keys[i], gs[i], moved(a, item, out[i]));
  }
}

void HostBackend::rescale(const Ciphertexts& a, Ciphertexts& out) const {
  const size_t last = a.limbs - 1;
  Words r(a.count * a.parts * a.n);
  context_.for_each(a.count * a.parts, [&](size_t i) {
    context_.ntt(last).coefficients(a.row(i / a.parts, i % a.parts, last), &r[i * a.n]);
  });
  context_.for_each(last * a.count * a.parts, [&](size_t i) {
    const size_t limb = i / (a.count * a.parts), row = i % (a.count * a.parts);
    const size_t item = row / a.parts, part = row % a.parts;
    rescale_row(context_, limb, last, &r[row * a.n], a.row(item, part, limb), out.row(item, part, limb));
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
