// SPDX-License-Identifier: Apache-2.0
// Compares every backend of this machine with the reference: results must be equal for the same arbitrary keys,
// ciphertexts and coins.
#include <string>

#include "common.hpp"

using namespace polykem;

namespace {

/// FrodoKEM takes a hundred milliseconds per item here.
size_t batch_of(const Scheme& scheme, uint8_t byte) {
  return 1 + byte % (scheme.info().family == std::string("frodokem") ? 3 : 40);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const Scheme scheme = fuzz::choose_scheme(data[0]);
  const size_t count = batch_of(scheme, data[1]);
  const bool good_keys = data[1] >= 128;  // else arbitrary bytes, which some sets refuse
  const Bytes seed(data + 2, data + size);
  const Bytes key_coins = fuzz::stretched(seed, count * scheme.info().keygen_coin_bytes);
  const Bytes ct = fuzz::stretched(seed, count * scheme.ciphertext_bytes());
  const Bytes coins = fuzz::stretched(seed, count * scheme.info().encaps_coin_bytes);
  const Context& reference = fuzz::backends().back().context;
  KeyPairs keys = reference.keygen(scheme, count, key_coins);
  for (const fuzz::Backend& backend : fuzz::backends()) {
    const KeyPairs also = backend.context.keygen(scheme, count, key_coins);
    fuzz::require(also.pk == keys.pk && also.sk == keys.sk, (backend.name + " makes the key pairs of ref").c_str());
  }
  if (!good_keys) {
    keys.pk = fuzz::stretched(seed, keys.pk.size());
    const Bytes sk = fuzz::stretched(seed, keys.sk.size());
    keys.sk.assign(sk.begin(), sk.end());
  }
  const auto sent = reference.encaps(scheme, count, KeyMode::kPerItem, keys.pk, coins);
  const auto received = reference.decaps(scheme, count, KeyMode::kPerItem, keys.sk, ct);
  for (const fuzz::Backend& backend : fuzz::backends()) {
    const auto also_sent = backend.context.encaps(scheme, count, KeyMode::kPerItem, keys.pk, coins);
    const auto also_received = backend.context.decaps(scheme, count, KeyMode::kPerItem, keys.sk, ct);
    fuzz::require(also_sent.ct == sent.ct && also_sent.ss == sent.ss && also_sent.items == sent.items,
                  (backend.name + " encapsulates as ref does").c_str());
    fuzz::require(also_received.ss == received.ss && also_received.items == received.items,
                  (backend.name + " decapsulates as ref does").c_str());
  }
  return 0;
}
