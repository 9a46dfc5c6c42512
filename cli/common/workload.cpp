// SPDX-License-Identifier: Apache-2.0
#include "common/workload.hpp"

#include <algorithm>
#include <cstring>

namespace polykem::cli {
namespace {

/// Repeats the first `distinct` records of `from`, of `size` bytes each, to `count` records.
template <class To, class From>
void repeat(To& out, const From& from, std::size_t size, std::size_t distinct, std::size_t count) {
  out.resize(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(from.data() + (i % distinct) * size, size, out.data() + i * size);
  }
}

template <class To, class From>
void append_record(To& out, const From& from, std::size_t index, std::size_t size) {
  out.insert(out.end(), from.data() + index * size, from.data() + (index + 1) * size);
}

}  // namespace

std::size_t Workload::item_bytes() const {
  const auto& info = scheme_.info();
  const bool shared = mode_ == KeyMode::kShared;
  switch (op_) {
    case POLYKEM_KEYGEN:
      return info.public_key_bytes + info.secret_key_bytes;
    case POLYKEM_ENCAPS:
      return (shared ? 0 : info.public_key_bytes) + info.ciphertext_bytes + info.shared_secret_bytes;
    case POLYKEM_SIGN:
      return (shared ? 0 : info.secret_key_bytes) + info.signature_bytes + kMessageBytes;
    case POLYKEM_VERIFY:
      return (shared ? 0 : info.public_key_bytes) + info.signature_bytes + kMessageBytes;
    default:
      break;
  }
  return (shared ? 0 : info.secret_key_bytes) + info.ciphertext_bytes + 2 * info.shared_secret_bytes;
}

Workload::Workload(const Context& context, const Scheme& scheme, polykem_op op, std::size_t count, KeyMode mode,
                   std::size_t memory)
    : context_(context), scheme_(scheme), op_(op), count_(count), mode_(mode) {
  const auto& info = scheme.info();
  in_flight_ = std::min(count, std::max<std::size_t>(1, memory / item_bytes()));
  if (op == POLYKEM_KEYGEN) {
    keys_.pk.resize(in_flight_ * info.public_key_bytes);
    keys_.sk.resize(in_flight_ * info.secret_key_bytes);
    return;
  }
  const std::size_t items = std::min(in_flight_, kMaxDistinct);
  distinct_keys_ = mode == KeyMode::kShared ? 1 : items;
  const std::size_t keys_used = mode == KeyMode::kShared ? 1 : in_flight_;
  keys_ = context.keygen(scheme, distinct_keys_);
  if (op == POLYKEM_SIGN) {
    repeat(sk_, keys_.sk, info.secret_key_bytes, distinct_keys_, keys_used);
    make_messages(in_flight_);
    ct_.resize(in_flight_ * info.signature_bytes);
    return;
  }
  if (op == POLYKEM_VERIFY) {
    make_messages(items);
    const Signatures made =
        context.sign(scheme, items, mode, keys_.sk, messages(ByteView(messages_.data(), items * kMessageBytes)));
    repeat(pk_, keys_.pk, info.public_key_bytes, distinct_keys_, keys_used);
    repeat(ct_, made.sig, info.signature_bytes, items, in_flight_);
    return;
  }
  ss_.resize(in_flight_ * info.shared_secret_bytes);
  if (op == POLYKEM_ENCAPS) {
    repeat(pk_, keys_.pk, info.public_key_bytes, distinct_keys_, keys_used);
    ct_.resize(in_flight_ * info.ciphertext_bytes);
    return;
  }
  const Encapsulations made = context.encaps(scheme, items, mode, keys_.pk);
  repeat(sk_, keys_.sk, info.secret_key_bytes, distinct_keys_, keys_used);
  repeat(ct_, made.ct, info.ciphertext_bytes, items, in_flight_);
  repeat(expected_, made.ss, info.shared_secret_bytes, items, in_flight_);
}

/// Messages that are numbers; after `distinct` of them they repeat.
void Workload::make_messages(std::size_t distinct) {
  messages_.resize(in_flight_ * kMessageBytes);
  for (std::size_t i = 0; i < in_flight_; ++i) {
    const std::uint64_t number = i % distinct;
    std::memcpy(messages_.data() + i * kMessageBytes, &number, sizeof number);
  }
}

void Workload::run() {
  for (std::size_t done = 0; done < count_; done += in_flight_)
    run_part(std::min(in_flight_, count_ - done));
}

void Workload::run_part(std::size_t count) {
  polykem_request request = Context::request(op_, scheme_, count);
  request.key_mode = static_cast<polykem_key_mode>(mode_);
  const polykem_messages given = messages_.empty() ? polykem_messages{} : messages(messages_).c_messages();
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
    case POLYKEM_SIGN:
      request.sk = sk_.data();
      request.messages = &given;
      request.sig_out = ct_.data();
      break;
    case POLYKEM_VERIFY:
      request.pk = pk_.data();
      request.messages = &given;
      request.sig = ct_.data();
      break;
    default:
      request.sk = sk_.data();
      request.ct = ct_.data();
      request.ss_out = ss_.data();
      break;
  }
  polykem::check(context_.run(request), "batch");
}

std::size_t Workload::checked() const {
  return op_ == POLYKEM_DECAPS ? in_flight_ : std::min(in_flight_, kMaxChecked);
}

bool Workload::check() const {
  switch (op_) {
    case POLYKEM_KEYGEN:
      return check_keygen();
    case POLYKEM_ENCAPS:
      return check_encaps();
    case POLYKEM_SIGN:
      return check_signatures();
    case POLYKEM_VERIFY:
      return check_refusals();
    default:
      break;
  }
  return ss_ == expected_;
}

bool Workload::check_keygen() const {
  const std::size_t n = checked();
  Bytes pk;
  SecretBytes sk;
  for (std::size_t i = 0; i < n; ++i) {
    append_record(pk, keys_.pk, i * in_flight_ / n, scheme_.public_key_bytes());
    append_record(sk, keys_.sk, i * in_flight_ / n, scheme_.secret_key_bytes());
  }
  if (scheme_.is_signature()) {
    const Messages text(Strings::shared(ByteView(pk.data(), kMessageBytes)));
    const Signatures made = context_.sign(scheme_, n, KeyMode::kPerItem, sk, text);
    return context_.verify(scheme_, n, KeyMode::kPerItem, pk, text, made.sig).all_valid();
  }
  const Encapsulations made = context_.encaps(scheme_, n, KeyMode::kPerItem, pk);
  return context_.decaps(scheme_, n, KeyMode::kPerItem, sk, made.ct).ss == made.ss;
}

bool Workload::check_encaps() const {
  const std::size_t n = checked();
  SecretBytes sk, expected;
  Bytes ct;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t item = i * in_flight_ / n;
    append_record(sk, keys_.sk, key_of(item), scheme_.secret_key_bytes());
    append_record(ct, ct_, item, scheme_.ciphertext_bytes());
    append_record(expected, ss_, item, scheme_.shared_secret_bytes());
  }
  return context_.decaps(scheme_, n, KeyMode::kPerItem, sk, ct).ss == expected;
}

Workload::Sample Workload::sample() const {
  const std::size_t n = checked();
  Sample out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t item = i * in_flight_ / n;
    append_record(out.pk, keys_.pk, key_of(item), scheme_.public_key_bytes());
    append_record(out.sig, ct_, item, scheme_.signature_bytes());
    append_record(out.texts, messages_, item, kMessageBytes);
  }
  return out;
}

bool Workload::check_signatures() const {
  const Sample some = sample();
  return context_.verify(scheme_, checked(), KeyMode::kPerItem, some.pk, messages(some.texts), some.sig).all_valid();
}

bool Workload::check_refusals() const {
  Sample some = sample();
  for (std::size_t i = 0; i < checked(); ++i)
    some.texts[i * kMessageBytes + kMessageBytes - 1] = 1;
  const Verification found =
      context_.verify(scheme_, checked(), KeyMode::kPerItem, some.pk, messages(some.texts), some.sig);
  const auto refused = std::count(found.items.begin(), found.items.end(), POLYKEM_ERR_SIGNATURE);
  return static_cast<std::size_t>(refused) == checked();
}

}  // namespace polykem::cli
