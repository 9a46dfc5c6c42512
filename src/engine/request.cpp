// SPDX-License-Identifier: Apache-2.0
#include "engine/request.hpp"

#include <limits>

#include "core/secure.hpp"
#include "engine/cuda/backend.hpp"

namespace polykem {

namespace {

Status validate_keyset(const Request& r) {
  const KeySet& set = *r.keyset;
  const KeyKind wanted = r.op == Op::encaps ? KeyKind::public_keys : KeyKind::secret_keys;
  if (set.scheme != r.scheme || set.kind != wanted) return Status::argument;
  if (r.key_index == nullptr) return r.shared_key || r.count <= set.count ? Status::ok : Status::range;
  const size_t indices = r.shared_key ? 1 : r.count;
  for (size_t i = 0; i < indices; ++i) {
    if (r.key_index[i] >= set.count) return Status::range;
  }
  return Status::ok;
}

Status validate_key(const Request& r, const uint8_t* key) {
  if (r.keyset == nullptr) return key != nullptr && r.key_index == nullptr ? Status::ok : Status::argument;
  if (key != nullptr) return Status::argument;
  return validate_keyset(r);
}

}  // namespace

Status validate(const Request& r) {
  if (r.scheme == nullptr || r.count == 0) return Status::argument;
  const Scheme& s = *r.scheme;
  const size_t widest =
      s.secret_key_bytes + s.public_key_bytes + s.ciphertext_bytes + s.keygen_draw_bytes + s.encaps_draw_bytes;
  if (r.count > std::numeric_limits<ptrdiff_t>::max() / widest) return Status::argument;
  switch (r.op) {
    case Op::keygen:
      return r.pk_out != nullptr && r.sk_out != nullptr && r.keyset == nullptr ? Status::ok : Status::argument;
    case Op::encaps:
      if (r.ct_out == nullptr || r.ss_out == nullptr) return Status::argument;
      return validate_key(r, r.pk);
    case Op::decaps:
      if (r.ct == nullptr || r.ss_out == nullptr) return Status::argument;
      if (r.sk_is_seed && (s.secret_seed_bytes() == 0 || r.keyset != nullptr)) return Status::argument;
      return validate_key(r, r.sk);
  }
  return Status::argument;
}

void zero_outputs(const Request& r) {
  const Scheme& s = *r.scheme;
  const auto zero = [&](uint8_t* out, size_t bytes) {
    if (out != nullptr && !cuda::zero_if_on_device(out, r.count * bytes)) secure_zero(out, r.count * bytes);
  };
  zero(r.pk_out, s.public_key_bytes);
  zero(r.sk_out, s.secret_key_bytes);
  zero(r.ct_out, s.ciphertext_bytes);
  zero(r.ss_out, s.shared_secret_bytes);
}

}  // namespace polykem
