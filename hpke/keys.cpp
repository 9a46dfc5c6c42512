// SPDX-License-Identifier: Apache-2.0
#include <openssl/rand.h>

#include <cstring>

#include "hpke/items.hpp"
#include "hpke/kem.hpp"

namespace polykem::hpke {
namespace {

void random_bytes(SecretBytes& out) {
  constexpr std::size_t kAtOnce = 1 << 30;
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t bytes = std::min(kAtOnce, out.size() - done);
    if (RAND_priv_bytes(out.data() + done, static_cast<int>(bytes)) != 1)
      throw Error(POLYKEM_ERR_RANDOM, "random bytes of HPKE");
    done += bytes;
  }
}

}  // namespace

std::size_t public_keys(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* sk,
                        std::uint8_t* pk, ItemStatus* status, const Pieces& pieces) {
  if (count == 0) return 0;
  const OpensslCall call;
  require(context && sk && pk, "HPKE's keys need context, sk and pk");
  check_count(count, suite);
  std::size_t failed = 0;
  pieces(count, [&](std::size_t first, std::size_t items) {
    failed +=
        suite.kem_functions().public_keys(context, items, sk + first * suite.secret_key_bytes(),
                                          pk + first * suite.public_key_bytes(), status ? status + first : nullptr);
  });
  return failed;
}

void generate(polykem_context* context, const Suite& suite, std::size_t count, std::uint8_t* pk, std::uint8_t* sk,
              const Pieces& pieces) {
  if (count == 0) return;
  const OpensslCall call;
  require(context && pk && sk, "HPKE's keys need context, pk and sk");
  check_count(count, suite);
  pieces(count, [&](std::size_t first, std::size_t items) {
    SecretBytes seeds(items * suite.secret_key_bytes());
    random_bytes(seeds);
    if (public_keys(context, suite, items, seeds.data(), pk + first * suite.public_key_bytes()) != 0)
      throw Error(POLYKEM_ERR_INTERNAL, "keys of HPKE");
    std::memcpy(sk + first * suite.secret_key_bytes(), seeds.data(), seeds.size());
  });
}

std::size_t derive_key_pairs(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* ikm,
                             std::size_t ikm_bytes, std::uint8_t* pk, std::uint8_t* sk, ItemStatus* status,
                             const Pieces& pieces) {
  if (count == 0) return 0;
  const OpensslCall call;
  require(context && ikm && pk && sk, "HPKE's keys need context, ikm, pk and sk");
  check_count(count, suite);
  check_count(count, ikm_bytes);
  std::size_t failed = 0;
  pieces(count, [&](std::size_t first, std::size_t items) {
    std::uint8_t* secret_keys = sk + first * suite.secret_key_bytes();
    suite.kem_functions().derive_secret_keys(context, items, ikm + first * ikm_bytes, ikm_bytes, secret_keys);
    failed += public_keys(context, suite, items, secret_keys, pk + first * suite.public_key_bytes(),
                          status ? status + first : nullptr);
  });
  return failed;
}

}  // namespace polykem::hpke
