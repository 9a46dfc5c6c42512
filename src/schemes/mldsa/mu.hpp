// SPDX-License-Identifier: Apache-2.0
// Computes mu of one message, for callers that sign or verify from mu.
#pragma once

#include "schemes/mldsa/ref/portable.hpp"
#include "schemes/mldsa/steps.hpp"

namespace polykem::mldsa {

/// Computes mu. `key` is a secret key for Op::kSign, otherwise a public key. [FIPS204, Alg 7, L6; Alg 8, L6-7]
template <MldsaParams P>
void mu(Op op, const uint8_t* key, const Messages& messages, uint8_t* out) {
  uint8_t tr[kDigestBytes];
  if (op == Op::kSign) {
    std::memcpy(tr, key + P.tr_offset(), sizeof tr);
    ct::declassify(tr, sizeof tr);
  } else if (messages.kind != MessageKind::kMu) {
    Shake xof(Shake::Strength::kShake256);
    xof.absorb({key, P.public_key_bytes()});
    xof.squeeze(tr);
  }
  Batch one;
  one.count = 1;
  one.message = messages;
  CommonSteps<P, ref::Portable>::hash_messages(
      one, [&](size_t) { return tr; }, [&](size_t) { return out; });
}

}  // namespace polykem::mldsa
