// SPDX-License-Identifier: Apache-2.0
// Computes the public key from a secret key, which does not contain it.
#pragma once

#include "core/secure.hpp"
#include "schemes/mldsa/ref/portable.hpp"
#include "schemes/mldsa/steps.hpp"

namespace polykem::mldsa {

/// Returns all ones if a coefficient of s1 or s2 is not in [-eta, eta], which can happen since they have three or four
/// bits.
template <MldsaParams P, class Item>
int32_t mask_out_of_range(const Item& item) {
  using Common = CommonSteps<P, ref::Portable>;
  int32_t mask = 0;
  for (const Poly& s : item.s1)
    mask |= Common::mask_too_large(s, P.eta + 1);
  for (const Poly& s : item.s2)
    mask |= Common::mask_too_large(s, P.eta + 1);
  return mask;
}

/// Makes the key pair again from rho, K, s1 and s2 of a secret key. Returns Status::kSecretKey and zeros unless tr and
/// t0 are those of the secret key, and s1 and s2 are small. [FIPS204, Alg 6, L3-10; RFC9881, 8.2]
template <MldsaParams P>
Status public_key_of(const uint8_t* sk, uint8_t* pk) {
  using Steps = KeygenSteps<P, ref::Portable>;
  using State = typename Steps::State;
  SecureBuffer memory, again;
  if (!memory.reserve(State::workspace_bytes(1)) || !again.reserve(P.secret_key_bytes())) return Status::kOutOfMemory;
  Batch batch;
  batch.count = 1;
  batch.pk_out = pk;
  batch.sk_out = reinterpret_cast<uint8_t*>(again.data());
  State state(batch, memory.data());
  auto& item = state.items[0];
  std::memcpy(item.seeds, sk, kSeedBytes);
  std::memcpy(item.seeds + kSeedBytes + kDigestBytes, sk + P.k_offset(), kSeedBytes);
  ct::declassify(item.seeds, kSeedBytes);
  Steps::unpack_small(item.s1, sk + P.s1_offset(), P.l);
  Steps::unpack_small(item.s2, sk + P.s2_offset(), P.k);
  for (auto* step : {Steps::expand_a, Steps::ntt_s1, Steps::multiply_a_s1, Steps::inverse_t, Steps::store_t,
                     Steps::hash_new_pk, Steps::store_sk})
    step(state);
  auto wrong =
      ct::mask_different(sk, batch.sk_out, P.secret_key_bytes()) | static_cast<uint32_t>(mask_out_of_range<P>(item));
  ct::declassify(&wrong, sizeof wrong);
  zeroize_stack();
  if (wrong == 0) return Status::kOk;
  std::memset(pk, 0, P.public_key_bytes());
  return Status::kSecretKey;
}

}  // namespace polykem::mldsa
