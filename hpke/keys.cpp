// SPDX-License-Identifier: Apache-2.0
#include <openssl/rand.h>

#include <cstring>

#include "hpke/ending.hpp"
#include "hpke/hpke.hpp"
#include "hpke/kem_batch.hpp"

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

/// LabeledDerive(ikm, "DeriveKeyPair", "", out) of a KEM [HPKE, 4.4], [HPKEPQ, 3].
bool derive_seed(const Suite& suite, EVP_MD_CTX* digest, ByteView ikm, std::uint8_t* out) {
  const auto id = static_cast<unsigned>(suite.kem().id);
  const auto low = [](std::size_t value) { return static_cast<std::uint8_t>(value); };
  constexpr std::string_view kFirst = "HPKE-v1KEM", kLabel = "DeriveKeyPair";
  const std::array<std::uint8_t, 4> numbers = {low(id >> 8), low(id), 0, low(kLabel.size())};
  const std::array<std::uint8_t, 2> bytes = {0, low(suite.secret_key_bytes())};
  return EVP_DigestInit_ex2(digest, suite.algorithms().shake256.get(), nullptr) == 1 &&
         EVP_DigestUpdate(digest, ikm.data(), ikm.size()) == 1 &&
         EVP_DigestUpdate(digest, kFirst.data(), kFirst.size()) == 1 &&
         EVP_DigestUpdate(digest, numbers.data(), numbers.size()) == 1 &&
         EVP_DigestUpdate(digest, kLabel.data(), kLabel.size()) == 1 &&
         EVP_DigestUpdate(digest, bytes.data(), bytes.size()) == 1 &&
         EVP_DigestFinalXOF(digest, out, suite.secret_key_bytes()) == 1;
}

}  // namespace

std::size_t public_keys(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* sk,
                        std::uint8_t* pk, ItemStatus* status) {
  if (count == 0) return 0;
  const OpensslCall call;
  require(context && sk && pk, "a pointer of HPKE's keys");
  // A hybrid's secret key is its coins; ML-KEM's expanded key is not kept.
  SecretBytes expanded(std::min(kBatchItems, count) * suite.scheme().secret_key_bytes());
  std::vector<polykem_status> found(std::min(kBatchItems, count));
  std::atomic<std::size_t> failed{0};
  for (std::size_t first = 0; first < count; first += kBatchItems) {
    const std::size_t items = std::min(kBatchItems, count - first);
    polykem_request request = kem_request(suite, POLYKEM_KEYGEN, items);
    request.coins = sk + first * suite.secret_key_bytes();
    request.pk_out = pk + first * suite.public_key_bytes();
    request.sk_out = expanded.data();
    request.item_status = found.data();
    run(context, request);
    for (std::size_t i = 0; i < items; ++i)
      put_status(status, first + i, status_of(found[i]), failed);
  }
  return failed;
}

void generate(polykem_context* context, const Suite& suite, std::size_t count, std::uint8_t* pk, std::uint8_t* sk) {
  const OpensslCall call;
  SecretBytes seeds(count * suite.secret_key_bytes());
  random_bytes(seeds);
  if (public_keys(context, suite, count, seeds.data(), pk) != 0) throw Error(POLYKEM_ERR_INTERNAL, "keys of HPKE");
  if (count > 0) std::memcpy(sk, seeds.data(), seeds.size());
}

std::size_t derive_key_pairs(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* ikm,
                             std::size_t ikm_bytes, std::uint8_t* pk, std::uint8_t* sk, ItemStatus* status) {
  if (count == 0) return 0;
  const OpensslCall call;
  require(context && ikm && sk, "a pointer of HPKE's keys");
  for_items(
      polykem_context_threads(context), count, [] { return DigestContextPtr(EVP_MD_CTX_new()); },
      [&](DigestContextPtr& digest, std::size_t i) {
        const ByteView record(ikm + i * ikm_bytes, ikm_bytes);
        if (!digest || !derive_seed(suite, digest.get(), record, sk + i * suite.secret_key_bytes()))
          throw Error(POLYKEM_ERR_INTERNAL, "hash of HPKE");
      });
  return public_keys(context, suite, count, sk, pk, status);
}

}  // namespace polykem::hpke
