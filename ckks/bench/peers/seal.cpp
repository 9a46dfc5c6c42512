// SPDX-License-Identifier: Apache-2.0
// SEAL's part of peers.py. It has one special prime and as many digits as primes.
//
//   seal LOG_N LIMBS SECONDS
#include <seal/seal.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "timing.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const size_t n = size_t{1} << std::atoi(argv[1]), limbs = std::strtoul(argv[2], nullptr, 10);
  const peers::Timing timing(std::atof(argv[3]));
  std::vector<int> bits(limbs + 1, 50);
  bits.front() = bits.back() = 60;
  seal::EncryptionParameters parameters(seal::scheme_type::ckks);
  parameters.set_poly_modulus_degree(n);
  parameters.set_coeff_modulus(seal::CoeffModulus::Create(n, bits));
  const seal::SEALContext context(parameters, true, seal::sec_level_type::none);
  seal::KeyGenerator keys(context);
  seal::PublicKey key;
  keys.create_public_key(key);
  seal::RelinKeys square;
  keys.create_relin_keys(square);
  seal::GaloisKeys rotations;
  std::vector<int> steps;
  for (int i = 1; i <= 16; ++i)
    steps.push_back(i);
  keys.create_galois_keys(steps, rotations);
  seal::CKKSEncoder encoder(context);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> values(n / 2);
  for (double& x : values)
    x = number(random);
  seal::Plaintext plain;
  encoder.encode(values, std::ldexp(1, 50), plain);
  seal::Ciphertext a;
  seal::Encryptor(context, key).encrypt(plain, a);
  seal::Evaluator evaluator(context);
  seal::Ciphertext out;
  timing("multiply", 1, [&] {
    evaluator.multiply(a, a, out);
    evaluator.relinearize_inplace(out, square);
  });
  timing("rotate", 1, [&] { evaluator.rotate_vector(a, 1, rotations, out); });
  timing("rescale", 1, [&] { evaluator.rescale_to_next(a, out); });
  timing("16 rotations", 1, [&] {
    for (const int step : steps)
      evaluator.rotate_vector(a, step, rotations, out);
  });
  return 0;
}
