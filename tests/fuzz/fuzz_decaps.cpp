// SPDX-License-Identifier: Apache-2.0
// Decapsulates an arbitrary ciphertext with an arbitrary secret key and with a valid one.
#include <algorithm>
#include <map>
#include <string>

#include "common.hpp"

using namespace polykem;

namespace {

/// A key pair of the set, made once.
const KeyPairs& good_key(const Scheme& scheme) {
  static std::map<std::string, KeyPairs> keys;
  auto& pair = keys[scheme.name()];
  if (pair.pk.empty()) pair = fuzz::context().keygen(scheme, 1);
  return pair;
}

/// Decapsulates a ciphertext alone, and as the second of two.
void decaps_alone_and_in_batch(const Scheme& scheme, ByteView sk, const Bytes& ct) {
  const auto one = fuzz::context().decaps(scheme, 1, KeyMode::kShared, sk, ct);
  Bytes twice(ct.size(), 0);
  twice.insert(twice.end(), ct.begin(), ct.end());
  const auto two = fuzz::context().decaps(scheme, 2, KeyMode::kShared, sk, twice);
  fuzz::require(std::equal(one.ss.begin(), one.ss.end(), two.ss.begin() + static_cast<long>(one.ss.size())),
                "item 1 of a batch has the secret that it has alone");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Scheme scheme = fuzz::choose_scheme(*data++);
  size_t left = size - 1;
  const Bytes ct = fuzz::take(data, left, scheme.ciphertext_bytes());
  decaps_alone_and_in_batch(scheme, good_key(scheme).sk, ct);
  decaps_alone_and_in_batch(scheme, fuzz::take(data, left, scheme.secret_key_bytes()), ct);
  return 0;
}
