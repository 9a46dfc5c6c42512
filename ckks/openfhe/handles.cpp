// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/handles.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "ckks/openfhe/error.hpp"

namespace polykem::openfhe {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw FormatError(what + ": it belongs to another parameter set");
}

std::vector<std::uint64_t> values_of(const Moduli& moduli) {
  std::vector<std::uint64_t> out;
  for (const Modulus& q : moduli)
    out.push_back(q.value);
  return out;
}

std::vector<std::uint64_t> roots_of(const Moduli& moduli) {
  std::vector<std::uint64_t> out;
  for (const Modulus& q : moduli)
    out.push_back(q.root);
  return out;
}

/// Throws FormatError unless the polynomial's towers are over the first primes of `context`, with N residues each.
void demand_towers(const Polynomial& polynomial, const polykem_ckks_context* context, const std::string& place) {
  const std::size_t n = polykem_ckks_ring_dimension(context);
  for (std::size_t i = 0; i < polynomial.size(); ++i) {
    const std::string tower = "tower " + std::to_string(i) + " of " + place;
    std::uint64_t prime = 0, root = 0;
    if (polykem_ckks_prime(context, i, &prime, &root) != POLYKEM_CKKS_OK) refuse(tower);
    if (polynomial[i].modulus != prime || polynomial[i].root != root || polynomial[i].values.size() != n) refuse(tower);
  }
}

/// Appends the rows of a polynomial of `towers` towers.
void append(std::vector<std::uint64_t>& words, const Polynomial& polynomial, std::size_t towers,
            const polykem_ckks_context* context, const std::string& place) {
  if (polynomial.size() != towers) refuse(place);
  demand_towers(polynomial, context, place);
  for (const Tower& tower : polynomial)
    words.insert(words.end(), tower.values.begin(), tower.values.end());
}

std::vector<std::uint64_t> rows_of(const std::vector<Polynomial>& parts, const polykem_ckks_context* context,
                                   const char* what) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < parts.size(); ++i)
    append(words, parts[i], parts[0].size(), context, "part " + std::to_string(i) + " of the " + what);
  return words;
}

}  // namespace

Moduli special_moduli(const SwitchingKey& key) {
  const Moduli all = moduli_of(key.a[0]);
  const std::size_t own = std::min(all.size(), key.context->moduli.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(own), all.end()};
}

unsigned digits_of(const Context& context) {
  const std::size_t count = context.moduli.size(), digits = std::min<std::size_t>(context.digits, count);
  const std::size_t size = (count + digits - 1) / digits;
  return static_cast<unsigned>((count + size - 1) / size);
}

polykem_ckks_status make(const Context& from, const Moduli& special, unsigned threads, bool allow_insecure,
                         polykem_ckks_context** out) {
  const std::vector<std::uint64_t> q = values_of(from.moduli), q_roots = roots_of(from.moduli);
  const std::vector<std::uint64_t> p = values_of(special), p_roots = roots_of(special);
  const polykem_ckks_parameters parameters{
      sizeof parameters, static_cast<unsigned>(std::countr_zero(from.ring_dimension)),
      q.size(),          q.data(),
      q_roots.data(),    p.size(),
      p.data(),          p.empty() ? nullptr : p_roots.data(),
      digits_of(from),   threads,
      allow_insecure};
  return polykem_ckks_context_new(&parameters, out);
}

polykem_ckks_status make(const Ciphertext& from, const polykem_ckks_context* context, polykem_ckks_ciphertexts** out) {
  const std::vector<std::uint64_t> words = rows_of(from.parts, context, "ciphertext");
  const polykem_ckks_shape shape{sizeof shape, 1, from.parts.size(), from.parts[0].size(), from.slots, from.scale};
  return polykem_ckks_ciphertexts_new(context, &shape, words.data(), words.size(), out);
}

polykem_ckks_status make(const PublicKey& from, const polykem_ckks_context* context, polykem_ckks_public_key** out) {
  if (from.h[0].size() != from.context->moduli.size()) throw FormatError("the public key lacks towers");
  const std::vector<std::uint64_t> words = rows_of(from.h, context, "public key");
  return polykem_ckks_public_key_new(context, words.data(), words.size(), out);
}

polykem_ckks_status make(const SecretKey& from, const polykem_ckks_context* context, polykem_ckks_secret_key** out) {
  demand_towers(from.s, context, "the secret key");
  return polykem_ckks_secret_key_new(context, from.s[0].values.data(), from.s[0].values.size(), out);
}

polykem_ckks_status make(const SwitchingKey& from, const polykem_ckks_context* context,
                         polykem_ckks_switching_key** out) {
  std::vector<std::uint64_t> words;
  for (std::size_t digit = 0; digit < from.a.size(); ++digit) {
    const std::string place = "[" + std::to_string(digit) + "] of the key";
    append(words, from.b[digit], from.a[0].size(), context, "b" + place);
    append(words, from.a[digit], from.a[0].size(), context, "a" + place);
  }
  return polykem_ckks_switching_key_new(context, words.data(), words.size(), out);
}

Polynomial take_polynomial(Words& words, std::uint32_t n, const Moduli& moduli, std::size_t towers) {
  if (towers > moduli.size() || words.left / n < towers)
    refuse("a polynomial of " + std::to_string(towers) + " towers");
  Polynomial out;
  for (std::size_t i = 0; i < towers; ++i, words.at += n, words.left -= n)
    out.push_back({moduli[i].value, moduli[i].root, std::vector<std::uint64_t>(words.at, words.at + n)});
  return out;
}

}  // namespace polykem::openfhe
