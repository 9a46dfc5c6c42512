// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "ckks/openfhe/error.hpp"

namespace polykem::openfhe {
namespace {

using Wide = unsigned __int128;

constexpr std::uint32_t kMaxRegisterBits = 64;
constexpr std::uint64_t kModulusBound = std::uint64_t{1} << 62;

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  throw FormatError(place + ": " + what);
}

void demand(bool holds, const std::string& place, const char* what) {
  if (!holds) refuse(place, what);
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = static_cast<std::uint64_t>(Wide{result} * base % modulus);
    base = static_cast<std::uint64_t>(Wide{base} * base % modulus);
  }
  return result;
}

void check_modulus(const Modulus& q, std::uint32_t n, const std::string& place) {
  demand(q.value < kModulusBound, place, "the modulus is not below 2^62");
  demand(q.value > 1 && q.value % (2 * std::uint64_t{n}) == 1, place, "the modulus is not 1 modulo 2N");
  demand(q.root < q.value && power(q.root, n, q.value) == q.value - 1, place,
         "the root is not a primitive 2N-th root of unity");
}

void check_modes(const Context& c) {
  const std::string place = "crypto context";
  demand(c.scaling <= ScalingTechnique::kNone, place, "an unknown scaling technique");
  demand(c.key_switch == KeySwitchTechnique::kBv || c.key_switch == KeySwitchTechnique::kHybrid, place,
         "an unknown technique of key switching");
  demand(c.secret_distribution <= SecretDistribution::kSparseEncapsulated, place,
         "an unknown distribution of secret keys");
  demand(c.data_type <= DataType::kComplex, place, "an unknown type of values");
  demand(c.register_bits >= 1 && c.register_bits <= kMaxRegisterBits, place, "registers of no or more than 64 bits");
  demand(c.composite_degree >= 1 && c.composite_degree <= c.moduli.size(), place,
         "a composite degree that is not from 1 to the number of moduli");
  demand(c.digits >= 1 && c.digits <= kMaxModuli, place, "a number of digits that is not from 1 to 256");
  demand(std::isfinite(c.noise_deviation) && c.noise_deviation >= 0, place,
         "a standard deviation that is negative or not finite");
  for (const double number :
       {double{c.assurance}, c.noise_estimate, c.flooding_deviation, c.statistical_security, c.adversarial_queries})
    demand(std::isfinite(number), place, "a number that is not finite");
}

bool is_tag(const std::string& tag) {
  return tag.size() <= kMaxTagBytes &&
         std::all_of(tag.begin(), tag.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

/// Checks that `tag` is a key tag.
const Context& context_of(const std::shared_ptr<const Context>& context, const std::string& tag,
                          const std::string& place) {
  if (context == nullptr) refuse(place, "there is no crypto context");
  check(*context);
  demand(is_tag(tag), place, "the key tag is longer than 256 bytes or not of plain printable characters");
  return *context;
}

std::string tower_of(std::size_t tower, const std::string& place) {
  return "tower " + std::to_string(tower) + " of " + place;
}

void check_residues(const Tower& tower, std::uint32_t n, const std::string& place) {
  if (tower.values.size() != n) {
    refuse(place, std::to_string(tower.values.size()) + " residues instead of " + std::to_string(n));
  }
  const auto wrong =
      std::find_if(tower.values.begin(), tower.values.end(), [&](std::uint64_t x) { return x >= tower.modulus; });
  if (wrong != tower.values.end()) {
    refuse(place, "residue " + std::to_string(wrong - tower.values.begin()) + " is not below its modulus");
  }
}

/// Checks that towers are over the first moduli of the context.
void check_polynomial(const Polynomial& polynomial, const Context& context, const std::string& place) {
  if (polynomial.empty() || polynomial.size() > context.moduli.size()) {
    refuse(place, std::to_string(polynomial.size()) + " towers, but the crypto context has " +
                      std::to_string(context.moduli.size()) + " moduli");
  }
  for (std::size_t i = 0; i < polynomial.size(); ++i) {
    const std::string tower = tower_of(i, place);
    demand(polynomial[i].modulus == context.moduli[i].value, tower,
           "the modulus is not the one that the crypto context has there");
    demand(polynomial[i].root == context.moduli[i].root, tower,
           "the root is not the one that the crypto context has there");
    check_residues(polynomial[i], context.ring_dimension, tower);
  }
}

/// Checks that all polynomials are over as many moduli as the first.
void check_parts(const std::vector<Polynomial>& parts, const Context& context) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string place = "part " + std::to_string(i);
    check_polynomial(parts[i], context, place);
    demand(parts[i].size() == parts[0].size(), place, "not as many towers as part 0");
  }
}

/// Checks the moduli of a key's first polynomial: those of the context, then in hybrid key switching others.
void check_key_moduli(const Moduli& moduli, const Context& context, const std::string& place) {
  const std::size_t own = context.moduli.size();
  demand(moduli.size() <= 2 * kMaxModuli, place, "too many towers");
  demand(moduli.size() >= own && std::equal(context.moduli.begin(), context.moduli.end(), moduli.begin()), place,
         "the towers do not begin with the moduli of the crypto context");
  const bool hybrid = context.key_switch == KeySwitchTechnique::kHybrid;
  demand(
      hybrid == (moduli.size() > own), place,
      hybrid ? "no tower beyond the moduli of the crypto context" : "towers beyond the moduli of the crypto context");
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < moduli.size(); ++i) {
    const std::string tower = tower_of(i, place);
    check_modulus(moduli[i], context.ring_dimension, tower);
    demand(seen.insert(moduli[i].value).second, tower, "a modulus for the second time");
  }
}

void check_digits(const std::vector<Polynomial>& digits, const Moduli& moduli, const char* half,
                  const std::string& place) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::string digit = std::string(half) + "[" + std::to_string(i) + "] of " + place;
    demand(moduli_of(digits[i]) == moduli, digit, "other moduli than a[0]");
    for (std::size_t j = 0; j < digits[i].size(); ++j)
      check_residues(digits[i][j], static_cast<std::uint32_t>(digits[0][0].values.size()), tower_of(j, digit));
  }
}

void check_key(const SwitchingKey& key, const std::string& tag, const std::string& place) {
  const Context& context = context_of(key.context, key.key_tag, place);
  demand(key.key_tag == tag, place, "its key tag is not the one it is listed under");
  const std::size_t max_digits = context.key_switch == KeySwitchTechnique::kHybrid ? context.digits : kMaxDigits;
  demand(!key.a.empty() && key.a.size() <= max_digits && key.a.size() == key.b.size(), place,
         "a and b do not have the same number of digits, from 1 to what the crypto context says");
  const Moduli moduli = moduli_of(key.a[0]);
  check_key_moduli(moduli, context, "a[0] of " + place);
  check_residues(key.a[0][0], context.ring_dimension, tower_of(0, "a[0] of " + place));
  check_digits(key.a, moduli, "a", place);
  check_digits(key.b, moduli, "b", place);
}

/// Checks that keys of one tag have one ring, since they switch to one secret key.
void check_same_rings(const SwitchingKey& first, const SwitchingKey& key, const std::string& place) {
  demand(key.context == first.context || *key.context == *first.context, place,
         "its crypto context is not that of the other keys with its key tag");
  demand(moduli_of(key.a[0]) == moduli_of(first.a[0]), place,
         "its moduli are not those of the other keys with its key tag");
}

}  // namespace

Moduli moduli_of(const Polynomial& polynomial) {
  Moduli moduli;
  for (const Tower& tower : polynomial)
    moduli.push_back({tower.modulus, tower.root});
  return moduli;
}

bool is_ring_dimension(std::uint32_t n) {
  return std::has_single_bit(n) && n >= kMinDimension && n <= kMaxDimension;
}

void check(const Context& context) {
  const std::string place = "crypto context";
  demand(is_ring_dimension(context.ring_dimension), place, "the ring dimension is not a power of two from 4 to 2^17");
  demand(!context.moduli.empty() && context.moduli.size() <= kMaxModuli, place,
         "the number of moduli is not from 1 to 256");
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < context.moduli.size(); ++i) {
    const std::string modulus = "modulus " + std::to_string(i) + " of the crypto context";
    check_modulus(context.moduli[i], context.ring_dimension, modulus);
    demand(seen.insert(context.moduli[i].value).second, modulus, "it is there for the second time");
  }
  demand(context.batch_size <= context.ring_dimension / 2, place, "a batch size of more than N/2");
  check_modes(context);
}

void check(const PublicKey& key) {
  const std::string place = "public key";
  const Context& context = context_of(key.context, key.key_tag, place);
  demand(key.h.size() == 2, place, "it does not have two parts");
  if (key.h[0].size() > context.moduli.size()) refuse(place, std::string("special primes too: ") + kTooOld);
  check_parts(key.h, context);
}

void check(const SecretKey& key) {
  const std::string place = "secret key";
  const Context& context = context_of(key.context, key.key_tag, place);
  check_polynomial(key.s, context, "the secret key");
}

void check(const Ciphertext& ciphertext) {
  const std::string place = "ciphertext";
  const Context& context = context_of(ciphertext.context, ciphertext.key_tag, place);
  demand(ciphertext.parts.size() >= 2 && ciphertext.parts.size() <= kMaxParts, place, "not 2 or 3 parts");
  check_parts(ciphertext.parts, context);
  demand(std::has_single_bit(ciphertext.slots) && ciphertext.slots <= context.ring_dimension / 2, place,
         "the number of slots is not a power of two from 1 to N/2");
  demand(ciphertext.level < context.moduli.size(), place, "a level of all moduli or more");
  demand(ciphertext.noise_degree <= context.moduli.size() + 1, place, "a noise degree that the moduli cannot hold");
  demand(std::isfinite(ciphertext.scale) && ciphertext.scale > 0, place, "a scale that is not positive and finite");
}

void check(const RelinearisationKeys& keys) {
  demand(keys.keys.size() <= kMaxKeyTags, "relinearisation keys", "more than 1024 key tags");
  for (const auto& [tag, list] : keys.keys) {
    demand(list.size() <= kMaxKeysOfTag, "relinearisation keys", "more than 64 of one key tag");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string place = "the relinearisation key for s^" + std::to_string(i + 2);
      check_key(list[i], tag, place);
      check_same_rings(list[0], list[i], place);
    }
  }
}

void check(const AutomorphismKeys& keys) {
  demand(keys.keys.size() <= kMaxKeyTags, "automorphism keys", "more than 1024 key tags");
  for (const auto& [tag, by_index] : keys.keys) {
    for (const auto& [index, key] : by_index) {
      const std::string place = "automorphism key " + std::to_string(index);
      check_key(key, tag, place);
      check_same_rings(by_index.begin()->second, key, place);
      demand(index % 2 == 1 && index < 2 * key.context->ring_dimension, place, "the index is not odd and below 2N");
    }
  }
}

}  // namespace polykem::openfhe
