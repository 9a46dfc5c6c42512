// SPDX-License-Identifier: Apache-2.0
// Files of keys that are valid alone but not together: with other rings, other moduli, other digits. The binary ones
// are in ckks/tests/data/openfhe/hostile, from which the fuzzers start.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ckks/openfhe/binary.hpp"
#include "ckks/openfhe/json.hpp"
#include "ckks/openfhe/objects.hpp"
#include "ckks/openfhe/openfhe.hpp"
#include "ckks/openfhe/schema.hpp"

namespace polykem::openfhe::test {

inline std::uint64_t power_of(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = base * base % modulus)
    if (exponent % 2 != 0) result = result * base % modulus;
  return result;
}

/// A small prime, 1 modulo 2N, with a root.
inline Modulus modulus_of(std::uint64_t prime, std::uint32_t n) {
  for (std::uint64_t x = 2;; ++x) {
    const std::uint64_t root = power_of(x, (prime - 1) / (2 * n), prime);
    if (power_of(root, n, prime) == prime - 1) return {prime, root};
  }
}

struct Ring {
  std::uint32_t n;
  std::vector<std::uint64_t> q, p;
  std::uint32_t digits = 1;
};
inline const Ring kSmall = {16, {97, 353}, {65537, 193}}, kLarge = {32, {193, 449}, {65537, 257}};

/// One object for each set of values, as files have it.
inline std::shared_ptr<const Context> context_of(const Ring& ring) {
  Context context;
  context.ring_dimension = ring.n;
  context.batch_size = ring.n / 2;
  context.digits = ring.digits;
  for (const std::uint64_t q : ring.q)
    context.moduli.push_back(modulus_of(q, ring.n));
  static std::vector<std::shared_ptr<const Context>> all;
  for (const auto& known : all)
    if (*known == context) return known;
  return all.emplace_back(std::make_shared<const Context>(context));
}

inline SwitchingKey key_of(const Ring& ring, std::size_t digits) {
  const std::shared_ptr<const Context> context = context_of(ring);
  Moduli all = context->moduli;
  for (const std::uint64_t p : ring.p)
    all.push_back(modulus_of(p, ring.n));
  Polynomial ones;
  for (const Modulus& q : all)
    ones.push_back({q.value, q.root, std::vector<std::uint64_t>(ring.n, 1)});
  const std::vector<Polynomial> half(digits, ones);
  return {context, "tag", half, half};
}

/// Returns the bytes of an object that write() refuses.
template <class T>
std::string unchecked(const T& object, Form form) {
  std::ostringstream out;
  const auto put = [&](auto&& writer) {
    Schema<Writer>(writer, object.sharing).file(object);
    writer.finish();
  };
  if (form == Form::kBinary) {
    put(BinaryWriter(out));
  } else {
    put(JsonWriter(out));
  }
  return out.str();
}

/// Two keys of one tag, in both orders; those of two rings in both forms.
inline void add_pair(std::map<std::string, std::string>& files, const std::string& name, const SwitchingKey& one,
                     const SwitchingKey& other) {
  for (const bool swapped : {false, true}) {
    const SwitchingKey &first = swapped ? other : one, &second = swapped ? one : other;
    AutomorphismKeys automorphisms;
    automorphisms.keys["tag"].emplace(3, first);
    automorphisms.keys["tag"].emplace(5, second);
    RelinearisationKeys relinearisation;
    relinearisation.keys["tag"] = {first, second};
    const std::string order = swapped ? "_swapped" : "";
    files["auto_" + name + order + ".bin"] = unchecked(automorphisms, Form::kBinary);
    files["mult_" + name + order + ".bin"] = unchecked(relinearisation, Form::kBinary);
    if (name == "rings" && !swapped) {
      files["auto_" + name + ".json"] = unchecked(automorphisms, Form::kJson);
      files["mult_" + name + ".json"] = unchecked(relinearisation, Form::kJson);
    }
  }
}

/// Returns the files by name. The keys of "digits" are valid in the format; only a context shows that they are not.
inline std::map<std::string, std::string> hostile_files() {
  std::map<std::string, std::string> files;
  const SwitchingKey small = key_of(kSmall, 1);
  add_pair(files, "rings", small, key_of(kLarge, 1));
  add_pair(files, "moduli", small, key_of({16, {353, 97}, {65537, 193}}, 1));
  add_pair(files, "fewer_moduli", small, key_of({16, {97}, {65537, 193}}, 1));
  add_pair(files, "special", small, key_of({16, {97, 353}, {65537, 257}}, 1));
  add_pair(files, "more_special", small, key_of({16, {97, 353}, {65537, 193, 257}}, 1));
  const Ring two_digits = {16, {97, 353}, {65537}, 2};
  add_pair(files, "digits", key_of(two_digits, 2), key_of(two_digits, 1));
  return files;
}

}  // namespace polykem::openfhe::test
