// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/keys.hpp"

#include <bit>

#include "ckks/src/error.hpp"
#include "ct/ct.hpp"

namespace polykem::ckks {

namespace {

constexpr unsigned kErrorBits = 21;  ///< an error is the difference of the numbers of ones in this many bits each

using Row = SecretVector<uint64_t>;
using Small = SecretVector<int64_t>;

void fill(Drbg& drbg, std::span<uint64_t> out) {
  if (drbg.prepare() != Status::kOk) throw Error(Fault::kRandom, "the operating system gives no random numbers");
  drbg.fill({reinterpret_cast<uint8_t*>(out.data()), out.size_bytes()});
}

Row secret_words(size_t n, Drbg& drbg) {
  Row words(n);
  fill(drbg, words);
  ct::poison(words.data(), n * sizeof words[0]);
  return words;
}

/// Samples uniformly from {-1, 0, 1}, to 2^-62.
Small ternary(size_t n, Drbg& drbg) {
  const Row words = secret_words(n, drbg);
  Small out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(Wide{words[i]} * 3 >> 64)) - 1;
  return out;
}

/// Returns how many bits of a secret word are set. Where the CPU need not have the instruction, std::popcount calls a
/// function of the compiler's library, which may look words up in a table.
int64_t ones(uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<int64_t>(word * 0x0101010101010101 >> 56);
}

Small errors(size_t n, Drbg& drbg) {
  constexpr uint64_t kMask = (uint64_t{1} << kErrorBits) - 1;
  const Row words = secret_words(n, drbg);
  Small out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = ones(words[i] & kMask) - ones(words[i] >> kErrorBits & kMask);
  return out;
}

/// Samples uniformly modulo q. The result is public.
void uniform(const Modulus& m, std::span<uint64_t> out, Drbg& drbg) {
  const uint64_t mask = std::bit_ceil(m.value()) - 1;
  std::vector<uint64_t> words(1024);
  for (size_t done = 0; done < out.size();) {
    fill(drbg, words);
    for (size_t i = 0; i < words.size() && done < out.size(); ++i)
      if ((words[i] & mask) < m.value()) out[done++] = words[i] & mask;
  }
}

/// Transforms a small polynomial modulo a prime.
Row transformed(const Context& context, size_t prime, const Small& a) {
  Row row(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    row[i] = context.modulus(prime).from_signed(a[i]);
  context.ntt(prime).forward(row.data());
  return row;
}

SecretKey secret_key_from(const Context& context, const Small& s) {
  SecretKey out{.n = context.n(), .set = context.id(), .words = {}};
  for (size_t prime = 0; prime < context.primes(); ++prime) {
    const Row row = transformed(context, prime, s);
    out.words.insert(out.words.end(), row.begin(), row.end());
  }
  return out;
}

/// Computes b = -a s + e modulo one prime, where a is given.
void mask_secret(const Context& context, size_t prime, const uint64_t* a, const uint64_t* s, const Small& e,
                 uint64_t* b) {
  const Modulus& m = context.modulus(prime);
  const Row noise = transformed(context, prime, e);
  for (size_t k = 0; k < context.n(); ++k)
    b[k] = m.sub(noise[k], m.mul(a[k], s[k]));
}

void check(const Context& context, const SecretKey& secret) {
  if (secret.set != context.id()) throw Error(Fault::kArgument, "the secret key belongs to another parameter set");
}

/// Makes a key that takes ciphertexts from the secret `from` to the secret `to`.
SwitchingKey make_switching_key(const Context& context, const SecretKey& from, const SecretKey& to, Drbg& drbg) {
  if (context.special() == 0)
    throw Error(Fault::kParameters, "the parameter set has no special primes p for key switching");
  const size_t n = context.n(), primes = context.primes();
  SwitchingKey out{.n = n, .primes = primes, .set = context.id(), .words = {}};
  out.words.resize(context.digits() * 2 * primes * n);
  for (size_t digit = 0; digit < context.digits(); ++digit) {
    const Small e = errors(n, drbg);
    const size_t first = context.digit_first(digit), size = context.digit_size(digit, context.limbs());
    for (size_t prime = 0; prime < primes; ++prime) {
      uint64_t* const b = &out.words[(digit * 2 * primes + prime) * n];
      uint64_t* const a = b + primes * n;
      uniform(context.modulus(prime), {a, n}, drbg);
      mask_secret(context, prime, a, to.row(prime), e, b);
      if (prime < first || prime >= first + size) continue;
      const Modulus& m = context.modulus(prime);
      for (size_t k = 0; k < n; ++k)
        b[k] = m.add(b[k], m.mul(from.row(prime)[k], context.p_mod(prime)));
    }
  }
  return out;
}

}  // namespace

SecretKey make_secret_key(const Context& context, Drbg& drbg) {
  return secret_key_from(context, ternary(context.n(), drbg));
}

SecretKey secret_key_from_row(const Context& context, const uint64_t* row) {
  const size_t n = context.n();
  const uint64_t q = context.modulus(0).value();
  Row coefficients(row, row + n);
  context.ntt(0).inverse(coefficients.data());
  Small s(n);
  uint64_t wrong = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t c = coefficients[i];
    s[i] = static_cast<int64_t>(c == 1) - static_cast<int64_t>(c == q - 1);
    wrong |= static_cast<uint64_t>(c != 0) & static_cast<uint64_t>(c != 1) & static_cast<uint64_t>(c != q - 1);
  }
  ct::declassify(&wrong, sizeof wrong);
  if (wrong != 0)
    throw Error(Fault::kResidues,
                "the secret key is not ternary, or its roots of unity are not those of the parameter set");
  return secret_key_from(context, s);
}

PublicKey make_public_key(const Context& context, const SecretKey& secret, Drbg& drbg) {
  check(context, secret);
  const size_t n = context.n(), limbs = context.limbs();
  PublicKey out{.n = n, .limbs = limbs, .set = context.q_id(), .words = {}};
  out.words.resize(2 * limbs * n);
  const Small e = errors(n, drbg);
  for (size_t limb = 0; limb < limbs; ++limb) {
    uint64_t* const a = &out.words[(limbs + limb) * n];
    uniform(context.modulus(limb), {a, n}, drbg);
    mask_secret(context, limb, a, secret.row(limb), e, &out.words[limb * n]);
  }
  return out;
}

SwitchingKey make_relinearisation_key(const Context& context, const SecretKey& secret, Drbg& drbg) {
  check(context, secret);
  SecretKey square = secret;
  for (size_t prime = 0; prime < context.primes(); ++prime)
    for (size_t k = 0; k < context.n(); ++k)
      square.words[prime * context.n() + k] = context.modulus(prime).mul(secret.row(prime)[k], secret.row(prime)[k]);
  return make_switching_key(context, square, secret, drbg);
}

// The key is used before X -> X^g, so it leads to s(X^(1/g)).
SwitchingKey make_automorphism_key(const Context& context, const SecretKey& secret, uint64_t g, Drbg& drbg) {
  check(context, secret);
  if (g % 2 == 0 || g >= 2 * context.n()) throw Error(Fault::kArgument, "an automorphism's g is odd and below 2N");
  uint64_t inverse = 1;  // g has an order that divides N
  for (size_t i = 1; i < context.n(); ++i)
    inverse = inverse * g % (2 * context.n());
  SecretKey to = secret;
  for (size_t prime = 0; prime < context.primes(); ++prime)
    rows().permute(context.log_n(), inverse, secret.row(prime), &to.words[prime * context.n()]);
  return make_switching_key(context, secret, to, drbg);
}

Ciphertexts encrypt(const Context& context, const PublicKey& key, const Plaintexts& messages, Drbg& drbg) {
  if (key.set != context.q_id() || messages.set != context.q_id())
    throw Error(Fault::kArgument, "the key or the plaintext belongs to another parameter set");
  const size_t n = context.n(), limbs = messages.limbs;
  Ciphertexts out{.count = messages.count,
                  .parts = 2,
                  .limbs = limbs,
                  .scale = messages.scale,
                  .slots = messages.slots,
                  .n = n,
                  .set = key.set,
                  .words = {}};
  out.words.resize(out.count * 2 * limbs * n);
  for (size_t item = 0; item < out.count; ++item) {
    const Small v = ternary(n, drbg), e[2] = {errors(n, drbg), errors(n, drbg)};
    context.for_each(limbs, [&](size_t limb) {
      const Modulus& m = context.modulus(limb);
      const Row mask = transformed(context, limb, v);
      for (size_t part = 0; part < 2; ++part) {
        const Row noise = transformed(context, limb, e[part]);
        uint64_t* const row = out.row(item, part, limb);
        for (size_t k = 0; k < n; ++k)
          row[k] = m.reduce(Wide{key.row(part, limb)[k]} * mask[k] + noise[k]);
      }
      for (size_t k = 0; k < n; ++k)
        out.row(item, 0, limb)[k] = m.add(out.row(item, 0, limb)[k], messages.row(item, limb)[k]);
    });
  }
  return out;
}

Plaintexts decrypt(const Context& context, const SecretKey& secret, const Ciphertexts& ciphertexts) {
  check(context, secret);
  if (ciphertexts.set != context.q_id())
    throw Error(Fault::kArgument, "the ciphertext belongs to another parameter set");
  const Ciphertexts& c = ciphertexts;
  Plaintexts out{
      .count = c.count, .limbs = c.limbs, .scale = c.scale, .slots = c.slots, .n = c.n, .set = c.set, .words = {}};
  out.words.resize(c.count * c.limbs * c.n);
  context.for_each(c.count * c.limbs, [&](size_t i) {
    const size_t item = i / c.limbs, limb = i % c.limbs;
    const Modulus& m = context.modulus(limb);
    const uint64_t* const s = secret.row(limb);
    for (size_t k = 0; k < c.n; ++k) {
      uint64_t sum = 0;
      for (size_t part = c.parts; part-- > 0;)
        sum = m.reduce(Wide{sum} * s[k] + c.row(item, part, limb)[k]);
      out.row(item, limb)[k] = sum;
    }
  });
  return out;
}

}  // namespace polykem::ckks
