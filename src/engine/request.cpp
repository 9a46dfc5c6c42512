// SPDX-License-Identifier: Apache-2.0
#include "engine/request.hpp"

#include <limits>

namespace polykem {

namespace {

/// The most bytes that a pointer difference can hold.
constexpr size_t kMaxBytes = std::numeric_limits<ptrdiff_t>::max();

Status validate_keyset(const Request& r) {
  const KeySet& set = *r.keyset;
  const BatchView& b = r.records;
  const KeyKind wanted = key_field(r.op).field == field::kPk ? KeyKind::kPublicKeys : KeyKind::kSecretKeys;
  if (set.scheme != r.scheme || set.kind != wanted) return Status::kArgument;
  if (b.key_index == nullptr) return b.shared_key || b.count <= set.count ? Status::kOk : Status::kRange;
  const size_t indices = b.shared_key ? 1 : b.count;
  for (size_t i = 0; i < indices; ++i) {
    if (b.key_index[i] >= set.count) return Status::kRange;
  }
  return Status::kOk;
}

Status validate_key(const Request& r, const uint8_t* key) {
  if (r.keyset == nullptr) return key != nullptr && r.records.key_index == nullptr ? Status::kOk : Status::kArgument;
  if (key != nullptr) return Status::kArgument;
  return validate_keyset(r);
}

/// True if no string has more than `max_bytes` bytes, all fit in memory, and offsets do not decrease. Without data all
/// must be empty, so that a missing pointer does not turn messages into empty ones.
bool lengths_fit(const Strings& strings, size_t count, size_t max_bytes) {
  if (strings.offsets == nullptr) {
    if (strings.data == nullptr || strings.width == 0) return strings.width == 0;
    return strings.width <= max_bytes && (strings.shared || count <= kMaxBytes / strings.width);
  }
  if (strings.offsets[count] > kMaxBytes) return false;
  if (strings.data == nullptr && strings.offsets[0] != strings.offsets[count]) return false;
  for (size_t i = 0; i < count; ++i)
    if (strings.offsets[i] > strings.offsets[i + 1] || strings.offsets[i + 1] - strings.offsets[i] > max_bytes)
      return false;
  return true;
}

/// [FIPS204, Alg 2, L1; Alg 3, L1]
Status validate_messages(const Messages& messages, size_t count) {
  constexpr size_t kMaxContext = 255;
  const bool fit =
      lengths_fit(messages.strings, count, kMaxBytes) && lengths_fit(messages.contexts, count, kMaxContext);
  const bool digest = messages.kind == MessageKind::kDigest;
  const size_t oid_bytes = messages.digest_oid.size();
  if (!fit || digest == (oid_bytes == 0) || oid_bytes > Messages::kMaxOidBytes) return Status::kArgument;
  if (messages.kind != MessageKind::kMu) return Status::kOk;
  if (messages.contexts.data != nullptr || messages.strings.data == nullptr) return Status::kArgument;
  for (size_t i = 0; i < count; ++i)
    if (messages.strings.at(i).size() != kMuBytes) return Status::kArgument;
  return Status::kOk;
}

}  // namespace

RecordBytes record_bytes(const Scheme& scheme, Op op, bool sk_is_seed) {
  RecordBytes bytes = scheme.record_bytes(op);
  if (sk_is_seed) bytes.sk = scheme.secret_seed_bytes();
  return bytes;
}

ItemRecords::ItemRecords(const Scheme& scheme, Op op, bool sk_is_seed)
    : fields_(fields_of(op)),
      bytes_(record_bytes(scheme, op, sk_is_seed)),
      mu_bytes_(op == Op::kSign || op == Op::kVerify ? kMuBytes : 0) {
  for (const FieldInfo& f : kRecordFields) {
    (f.in != nullptr ? input_bytes_ : output_bytes_) += bytes(f);
    public_bytes_ += f.out != nullptr && !f.secret ? bytes(f) : 0;
  }
}

bool count_fits(const Scheme& s, size_t count) {
  const size_t widest = s.secret_key_bytes + s.public_key_bytes + s.ciphertext_bytes + s.signature_bytes +
                        s.keygen_coin_bytes + s.encaps_coin_bytes;
  return count <= kMaxBytes / widest;
}

Status validate(const Request& r) {
  const BatchView& b = r.records;
  if (r.scheme == nullptr || b.count == 0) return Status::kArgument;
  const Scheme& s = *r.scheme;
  if (!s.has(r.op) || !count_fits(s, b.count)) return Status::kArgument;
  for (const FieldInfo& f : kRecordFields) {
    const bool needed = (fields_of(r.op) & f.field) != 0 && f.field != field::kCoins && !f.key;
    if (needed && f.data(b) == nullptr) return Status::kArgument;
  }
  if (r.op == Op::kKeygen) return r.keyset == nullptr ? Status::kOk : Status::kArgument;
  if (r.sk_is_seed && (s.secret_seed_bytes() == 0 || r.keyset != nullptr)) return Status::kArgument;
  if (s.is_signature() && validate_messages(b.message, b.count) != Status::kOk) return Status::kArgument;
  return validate_key(r, key_field(r.op).data(b));
}

BatchView with_keys(const Request& r, const SchemeBackend& backend) {
  BatchView records = r.records;
  if (r.keyset == nullptr) return records;
  const uint8_t* keys = r.keyset->records();
  records.expanded = r.keyset->expanded(backend, records.shared_key);
  if (records.shared_key) {
    const size_t key = records.key_index == nullptr ? 0 : records.key_index[0];
    keys += key * r.keyset->record_bytes();
    records.expanded = records.expanded.slice(key);
    records.expanded.shared = true;
    records.key_index = nullptr;
  }
  records.expanded.index = records.key_index;
  records.*key_field(r.op).in = keys;
  return records;
}

}  // namespace polykem
