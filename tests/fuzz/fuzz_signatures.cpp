// SPDX-License-Identifier: Apache-2.0
// Signs with arbitrary private keys, and verifies arbitrary signatures with arbitrary public keys. Every backend
// terminates with the reference's results. A changed signature does not verify.
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

/// Its first two bytes choose the byte that the third changes.
void verify_changed(const Scheme& scheme, const Messages& messages, const Bytes& how) {
  const KeyPairs& keys = good_key(scheme);
  const Signatures made = fuzz::context().sign(scheme, 1, KeyMode::kShared, keys.sk, messages);
  Bytes changed = made.sig;
  changed[(how[0] | how[1] << 8) % changed.size()] ^= how[2];
  const auto found = fuzz::context().verify(scheme, 1, KeyMode::kShared, keys.pk, messages, changed);
  fuzz::require(found.all_valid() == (changed == made.sig), "a signature verifies unless it was changed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  static const std::vector<Scheme> sets = Scheme::all_signatures();
  const Scheme& scheme = sets[data[0] % sets.size()];
  const uint8_t text_bytes = data[1], context_bytes = data[2];
  size_t left = size - 3;
  data += 3;
  const Bytes how = fuzz::take(data, left, 3), text = fuzz::take(data, left, text_bytes);
  const Bytes context = fuzz::take(data, left, context_bytes);
  Messages messages(Strings::shared(text), Strings::shared(context));
  messages.deterministic = true;
  verify_changed(scheme, messages, how);
  const Bytes seed = fuzz::take(data, left, left + 1);
  const Bytes sk = fuzz::stretched(seed, scheme.secret_key_bytes());
  const Bytes pk = fuzz::stretched(seed, scheme.public_key_bytes());
  const Bytes sig = fuzz::stretched(seed, scheme.signature_bytes());
  const Context& reference = fuzz::backends().back().context;
  const Signatures made = reference.sign(scheme, 1, KeyMode::kShared, sk, messages);
  const Verification found = reference.verify(scheme, 1, KeyMode::kShared, pk, messages, sig);
  for (const fuzz::Backend& backend : fuzz::backends()) {
    if (backend.context.backend(scheme).empty()) continue;
    const Signatures also_made = backend.context.sign(scheme, 1, KeyMode::kShared, sk, messages);
    const Verification also_found = backend.context.verify(scheme, 1, KeyMode::kShared, pk, messages, sig);
    fuzz::require(also_made.sig == made.sig && also_made.items == made.items,
                  (backend.name + " signs as ref does").c_str());
    fuzz::require(also_found.items == found.items, (backend.name + " verifies as ref does").c_str());
  }
  return 0;
}
