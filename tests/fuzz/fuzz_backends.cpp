// SPDX-License-Identifier: Apache-2.0
// Every backend of this machine against the reference: for the same arbitrary keys, ciphertexts and coins they must
// give the same answers.
#include <string>

#include "common.hpp"

using namespace polykem;

namespace {

struct Backend {
  std::string name;
  Context context;
};

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = [] {
    std::vector<Backend> found;
    for (size_t i = 0; i < polykem_backend_count(); ++i) {
      polykem_backend_info_t info{};
      info.struct_size = sizeof info;
      polykem_backend_info(i, &info);
      if (info.available) found.push_back({info.name, Context(1, info.name)});
    }
    return found;
  }();
  return all;
}

/// count records: the input's bytes again and again, each round changed a little.
Bytes stretched(const Bytes& seed, size_t bytes) {
  Bytes out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<uint8_t>(seed[i % seed.size()] + i / seed.size() * 37);
  return out;
}

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
  const Bytes key_coins = stretched(seed, count * scheme.info().keygen_coin_bytes);
  const Bytes ct = stretched(seed, count * scheme.ciphertext_bytes());
  const Bytes coins = stretched(seed, count * scheme.info().encaps_coin_bytes);
  const Context& reference = backends().back().context;
  KeyPairs keys = reference.keygen(scheme, count, key_coins);
  for (const Backend& backend : backends()) {
    const KeyPairs also = backend.context.keygen(scheme, count, key_coins);
    fuzz::require(also.pk == keys.pk && also.sk == keys.sk, (backend.name + " makes the key pairs of ref").c_str());
  }
  if (!good_keys) {
    keys.pk = stretched(seed, keys.pk.size());
    const Bytes sk = stretched(seed, keys.sk.size());
    keys.sk.assign(sk.begin(), sk.end());
  }
  const auto sent = reference.encaps(scheme, count, KeyMode::kPerItem, keys.pk, coins);
  const auto received = reference.decaps(scheme, count, KeyMode::kPerItem, keys.sk, ct);
  for (const Backend& backend : backends()) {
    const auto also_sent = backend.context.encaps(scheme, count, KeyMode::kPerItem, keys.pk, coins);
    const auto also_received = backend.context.decaps(scheme, count, KeyMode::kPerItem, keys.sk, ct);
    fuzz::require(also_sent.ct == sent.ct && also_sent.ss == sent.ss && also_sent.items == sent.items,
                  (backend.name + " encapsulates as ref does").c_str());
    fuzz::require(also_received.ss == received.ss && also_received.items == received.items,
                  (backend.name + " decapsulates as ref does").c_str());
  }
  return 0;
}
