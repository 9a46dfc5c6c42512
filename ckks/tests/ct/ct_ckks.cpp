// SPDX-License-Identifier: Apache-2.0
// Runs CKKS's key generation, encryption and decryption with every secret poisoned, as in ct_check.cpp. Only public
// keys, switching keys and ciphertexts, which are public, are declassified.
//
//   ct_ckks [--leak]     with --leak it branches on a decrypted word, which memcheck must report
#include <cstdio>

#include "ckks/src/encoding.hpp"
#include "ckks/src/keys.hpp"
#include "ckks/src/primes.hpp"
#include "ct/ct.hpp"

using namespace polykem;
using namespace polykem::ckks;

namespace {

template <typename Words>
void declassify(const Words& words) {
  ct::declassify(words.data(), words.size() * sizeof words[0]);
}

}  // namespace

int main(int argc, char**) {
  Params params{.log_n = 6, .q = {}, .p = {}, .q_roots = {}, .p_roots = {}, .digits = 2, .threads = 1};
  params.q = find_primes(6, 45, 3, {});
  params.p = find_primes(6, 60, 2, {});
  const Context context(params);
  Drbg drbg;
  const SecretKey fresh = make_secret_key(context, drbg);
  const SecretKey secret = secret_key_from_row(context, fresh.row(0));
  const PublicKey key = make_public_key(context, secret, drbg);
  declassify(key.words);
  declassify(make_relinearisation_key(context, secret, drbg).words);
  declassify(make_automorphism_key(context, secret, 5, drbg).words);
  const Plaintexts message = encode(context, std::vector<Complex>(32, {0.5, -1}), 32, 3, 0x1p30);
  ct::poison(message.words.data(), message.words.size() * sizeof message.words[0]);
  const Ciphertexts sealed = encrypt(context, key, message, drbg);
  declassify(sealed.words);
  const Plaintexts opened = decrypt(context, secret, sealed);
  if (argc > 1 && opened.words[0] == 1) std::puts("leaked");
  return 0;
}
