// SPDX-License-Identifier: Apache-2.0
#include "common/workload.hpp"

#include <algorithm>

namespace polykem::cli {
namespace {

/** `keys` repeated to `count` records of `size` bytes. */
template <class To, class From>
void repeat(To& out, const From& keys, std::size_t size, std::size_t distinct, std::size_t count) {
  out.resize(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(keys.data() + (i % distinct) * size, size, out.data() + i * size);
  }
}

template <class To, class From>
void append_record(To& out, const From& from, std::size_t index, std::size_t size) {
  out.insert(out.end(), from.data() + index * size, from.data() + (index + 1) * size);
}

}  // namespace

Workload::Workload(const Context& context, const Scheme& scheme, polykem_op op, std::size_t count, KeyMode mode)
    : context_(context), scheme_(scheme), op_(op), count_(count), mode_(mode) {
  const auto& info = scheme.info();
  if (op == POLYKEM_KEYGEN) {
    keys_.pk.resize(count * info.public_key_bytes);
    keys_.sk.resize(count * info.secret_key_bytes);
    return;
  }
  distinct_ = mode == KeyMode::kShared ? 1 : std::min(count, kMaxDistinctKeys);
  const std::size_t keys_used = mode == KeyMode::kShared ? 1 : count;
  keys_ = context.keygen(scheme, distinct_);
  repeat(pk_, keys_.pk, info.public_key_bytes, distinct_, keys_used);
  ct_.resize(count * info.ciphertext_bytes);
  ss_.resize(count * info.shared_secret_bytes);
  if (op == POLYKEM_ENCAPS) return;
  repeat(sk_, keys_.sk, info.secret_key_bytes, distinct_, keys_used);
  Encapsulations made = context.encaps(scheme, count, mode, pk_);
  ct_ = std::move(made.ct);
  expected_ = std::move(made.ss);
}

void Workload::run() {
  polykem_request request = Context::request(op_, scheme_, count_);
  request.key_mode = static_cast<polykem_key_mode>(mode_);
  switch (op_) {
    case POLYKEM_KEYGEN:
      request.key_mode = POLYKEM_KEY_PER_ITEM;
      request.pk_out = keys_.pk.data();
      request.sk_out = keys_.sk.data();
      break;
    case POLYKEM_ENCAPS:
      request.pk = pk_.data();
      request.ct_out = ct_.data();
      request.ss_out = ss_.data();
      break;
    case POLYKEM_DECAPS:
      request.sk = sk_.data();
      request.ct = ct_.data();
      request.ss_out = ss_.data();
      break;
  }
  polykem::check(context_.run(request), "batch");
}

std::size_t Workload::checked() const {
  return op_ == POLYKEM_DECAPS ? count_ : std::min(count_, kMaxChecked);
}

bool Workload::check() const {
  switch (op_) {
    case POLYKEM_KEYGEN:
      return check_keygen();
    case POLYKEM_ENCAPS:
      return check_encaps();
    case POLYKEM_DECAPS:
      break;
  }
  return ss_ == expected_;
}

bool Workload::check_keygen() const {
  const std::size_t n = checked();
  Bytes pk;
  SecretBytes sk;
  for (std::size_t i = 0; i < n; ++i) {
    append_record(pk, keys_.pk, i * count_ / n, scheme_.public_key_bytes());
    append_record(sk, keys_.sk, i * count_ / n, scheme_.secret_key_bytes());
  }
  const Encapsulations made = context_.encaps(scheme_, n, KeyMode::kPerItem, pk);
  return context_.decaps(scheme_, n, KeyMode::kPerItem, sk, made.ct).ss == made.ss;
}

bool Workload::check_encaps() const {
  const std::size_t n = checked();
  SecretBytes sk, expected;
  Bytes ct;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t item = i * count_ / n;
    append_record(sk, keys_.sk, key_of(item), scheme_.secret_key_bytes());
    append_record(ct, ct_, item, scheme_.ciphertext_bytes());
    append_record(expected, ss_, item, scheme_.shared_secret_bytes());
  }
  return context_.decaps(scheme_, n, KeyMode::kPerItem, sk, ct).ss == expected;
}

}  // namespace polykem::cli
