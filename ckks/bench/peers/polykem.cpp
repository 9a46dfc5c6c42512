// SPDX-License-Identifier: Apache-2.0
// polykem's part of peers.py, through the C API.
//
//   polykem LOG_N LIMBS SPECIALS DIGITS SECONDS
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "polykem/ckks.h"
#include "timing.hpp"

namespace {

void check(polykem_ckks_status status) {
  if (status == POLYKEM_CKKS_OK) return;
  std::fprintf(stderr, "%s\n", polykem_ckks_error_text());
  std::exit(1);
}

std::vector<uint64_t> primes(unsigned log_n, unsigned bits, size_t count, const std::vector<uint64_t>& taken) {
  std::vector<uint64_t> out(count);
  check(polykem_ckks_find_primes(log_n, bits, count, taken.data(), taken.size(), out.data()));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const auto log_n = static_cast<unsigned>(std::atoi(argv[1]));
  const size_t limbs = std::strtoul(argv[2], nullptr, 10), specials = std::strtoul(argv[3], nullptr, 10);
  const peers::Timing timing(std::atof(argv[5]));
  std::vector<uint64_t> p = primes(log_n, 60, specials + 1, {}), q{p[specials]};
  p.resize(specials);
  for (const uint64_t prime : primes(log_n, 50, limbs - 1, {}))
    q.push_back(prime);
  polykem_ckks_parameters parameters{};
  parameters.struct_size = sizeof parameters;
  parameters.log_n = log_n;
  parameters.q_count = q.size(), parameters.q = q.data();
  parameters.p_count = p.size(), parameters.p = p.data();
  parameters.digits = static_cast<unsigned>(std::atoi(argv[4]));
  parameters.threads = 1;
  parameters.allow_insecure = 1;
  polykem_ckks_context* context;
  check(polykem_ckks_context_new(&parameters, &context));
  polykem_ckks_secret_key* secret;
  check(polykem_ckks_secret_key_generate(context, &secret));
  polykem_ckks_public_key* key;
  check(polykem_ckks_public_key_generate(context, secret, &key));
  polykem_ckks_switching_key *square, *rotation[16];
  check(polykem_ckks_relinearisation_key_generate(context, secret, &square));
  for (int i = 0; i < 16; ++i)
    check(polykem_ckks_automorphism_key_generate(context, secret, polykem_ckks_rotation_element(context, i + 1),
                                                 &rotation[i]));

  const size_t slots = polykem_ckks_ring_dimension(context) / 2;
  const auto encrypted = [&](size_t count) {
    std::mt19937_64 random(count);
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<double> values(2 * slots * count);
    std::generate(values.begin(), values.end(), [&] { return number(random); });
    polykem_ckks_plaintexts* plain;
    check(polykem_ckks_encode(context, values.data(), count, slots, limbs, 0x1p50, &plain));
    polykem_ckks_ciphertexts* out;
    check(polykem_ckks_encrypt(context, key, plain, &out));
    polykem_ckks_plaintexts_free(plain);
    return out;
  };
  const auto multiply = [&](const polykem_ckks_ciphertexts* a) {
    polykem_ckks_ciphertexts *product, *out;
    check(polykem_ckks_combine(context, POLYKEM_CKKS_MUL, a, a, &product));
    check(polykem_ckks_relinearise(context, product, square, &out));
    polykem_ckks_ciphertexts_free(product);
    polykem_ckks_ciphertexts_free(out);
  };
  const auto rotate = [&](const polykem_ckks_ciphertexts* a, int steps) {
    polykem_ckks_ciphertexts* out;
    check(polykem_ckks_automorphism(context, a, polykem_ckks_rotation_element(context, steps), rotation[steps - 1],
                                    &out));
    polykem_ckks_ciphertexts_free(out);
  };
  const auto rescale = [&](const polykem_ckks_ciphertexts* a) {
    polykem_ckks_ciphertexts* out;
    check(polykem_ckks_rescale(context, a, &out));
    polykem_ckks_ciphertexts_free(out);
  };
  const polykem_ckks_ciphertexts *const one = encrypted(1), *const sixteen = encrypted(16);
  timing("multiply", 1, [&] { multiply(one); });
  timing("rotate", 1, [&] { rotate(one, 1); });
  timing("rescale", 1, [&] { rescale(one); });
  timing("multiply, batch of 16", 16, [&] { multiply(sixteen); });
  timing("rotate, batch of 16", 16, [&] { rotate(sixteen, 1); });
  timing("rescale, batch of 16", 16, [&] { rescale(sixteen); });
  timing("16 rotations", 1, [&] {
    uint64_t g[16];
    for (int i = 0; i < 16; ++i)
      g[i] = polykem_ckks_rotation_element(context, i + 1);
    polykem_ckks_ciphertexts* out[16];
    check(polykem_ckks_automorphisms(context, one, g, rotation, 16, out));
    for (polykem_ckks_ciphertexts* const ciphertexts : out)
      polykem_ckks_ciphertexts_free(ciphertexts);
  });
  return 0;
}
