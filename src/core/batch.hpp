// SPDX-License-Identifier: Apache-2.0
// The records of a batch, in the form that every layer passes on: C API, engine, accelerators, schemes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/status.hpp"

namespace polykem {

/// The lengths of a parameter set's records. coins: of one operation.
struct RecordBytes {
  size_t pk, sk, ct, ss, coins, sig = 0;

  bool operator==(const RecordBytes&) const = default;
};

/// Keys of a key set in a backend's own form. Item i uses key(i).
struct ExpandedKeys {
  const std::byte* data = nullptr;  ///< nullptr: none; 64-byte aligned
  size_t bytes = 0;                 ///< bytes of one key
  bool shared = false;              ///< all items use the same key
  const size_t* index = nullptr;    ///< item i uses key index[i]; nullptr: key i

  const std::byte* key(size_t i) const { return data + (shared ? 0 : index == nullptr ? i : index[i]) * bytes; }
  /// The view for the items from `first` on.
  ExpandedKeys slice(size_t first) const {
    if (data == nullptr || shared) return *this;
    if (index != nullptr) return {data, bytes, false, index + first};
    return {data + first * bytes, bytes, false, nullptr};
  }

  bool operator==(const ExpandedKeys&) const = default;
};

/// Byte strings of the items of a batch: of different lengths, of one length, or one for all.
struct Strings {
  const uint8_t* data = nullptr;  ///< string i is data[offsets[i]] to data[offsets[i + 1] - 1]; nullptr: all are empty
  const size_t* offsets = nullptr;  ///< count + 1 of them; nullptr: each string has `width` bytes
  size_t width = 0;
  bool shared = false;  ///< one string of `width` bytes for all items

  std::span<const uint8_t> at(size_t i) const {
    if (data == nullptr) return {};
    if (shared) return {data, width};
    return offsets == nullptr ? std::span(data + i * width, width)
                              : std::span(data + offsets[i], offsets[i + 1] - offsets[i]);
  }
  /// The start of the strings of all items, and the total bytes of the first `count`.
  const uint8_t* begin() const { return offsets == nullptr || data == nullptr ? data : data + offsets[0]; }
  size_t bytes(size_t count) const {
    if (data == nullptr) return 0;
    if (shared) return width;
    return offsets == nullptr ? count * width : offsets[count] - offsets[0];
  }
  /// The view for the items from `first` on.
  Strings slice(size_t first) const {
    if (data == nullptr || shared) return *this;
    if (offsets != nullptr) return {data, offsets + first, 0, false};
    return {data + first * width, nullptr, width, false};
  }

  bool operator==(const Strings&) const = default;
};

/// The form in which messages are given to sign and verify. [FIPS204, 5.2, 5.4; Alg 7, L6]
enum class MessageKind {
  kPure,    ///< the message itself
  kDigest,  ///< a digest of the message, by the hash that digest_oid names: HashML-DSA
  kMu,      ///< the 64 bytes of mu, which the caller has computed
};

inline constexpr size_t kMuBytes = 64;

struct Messages {
  static constexpr size_t kMaxOidBytes = 32;
  Strings strings{}, contexts{};  ///< contexts have at most 255 bytes
  MessageKind kind = MessageKind::kPure;
  std::span<const uint8_t> digest_oid{};  ///< of MessageKind::kDigest: the hash's object identifier in DER
  bool deterministic = false;             ///< rnd is 0 [FIPS204, 3.4]

  /// The total bytes of the messages and contexts of `count` items.
  size_t bytes(size_t count) const { return strings.bytes(count) + contexts.bytes(count); }
  /// Messages given as mu, kMuBytes each.
  static Messages of_mu(const uint8_t* mu) {
    return {.strings = {mu, nullptr, kMuBytes, false}, .kind = MessageKind::kMu};
  }
  Messages slice(size_t first) const {
    return {strings.slice(first), contexts.slice(first), kind, digest_oid, deterministic};
  }
  bool operator==(const Messages& other) const {
    return strings == other.strings && contexts == other.contexts && kind == other.kind &&
           digest_oid.data() == other.digest_oid.data() && deterministic == other.deterministic;
  }
};

/// A run of consecutive items: a pointer to each array of records (nullptr if the operation has no such array). Records
/// are contiguous and need no alignment.
struct BatchView {
  size_t count = 0;
  bool shared_key = false;         ///< pk or sk is one record for all items
  const uint8_t* coins = nullptr;  ///< nullptr: the first step makes them
  const uint8_t* pk = nullptr;
  const uint8_t* sk = nullptr;
  const uint8_t* ct = nullptr;
  const uint8_t* sig = nullptr;
  Messages message{};                 ///< of a signature
  const size_t* key_index = nullptr;  ///< item i uses record key_index[i] of pk or sk; nullptr: record i
  ExpandedKeys expanded{};            ///< the same keys in the backend's own form, if their key set has it
  uint8_t* pk_out = nullptr;
  uint8_t* sk_out = nullptr;
  uint8_t* ct_out = nullptr;
  uint8_t* ss_out = nullptr;
  uint8_t* sig_out = nullptr;
  Status* item_status = nullptr;

  /// True if an operation that takes coins must make them itself.
  bool makes_coins() const { return coins == nullptr && !message.deterministic; }
  /// The view of items [first, first + items).
  BatchView slice(const RecordBytes& bytes, size_t first, size_t items) const;

  bool operator==(const BatchView&) const = default;
};

/// A set of arrays of a batch: one bit for each.
using Fields = uint32_t;
namespace field {
inline constexpr Fields kCoins = 1, kPk = 2, kSk = 4, kCt = 8, kPkOut = 16, kSkOut = 32, kCtOut = 64, kSsOut = 128,
                        kItemStatus = 256, kSig = 512, kSigOut = 1024;
inline constexpr Fields kOutputs = kPkOut | kSkOut | kCtOut | kSsOut | kSigOut | kItemStatus;
}  // namespace field

/// One array of records of a BatchView, for code that treats all of them alike.
struct FieldInfo {
  Fields field;
  const uint8_t* BatchView::*in;  ///< the member, if the array is an input; else nullptr
  uint8_t* BatchView::*out;       ///< the member, if the array is an output; else nullptr
  size_t RecordBytes::*bytes;
  bool key;     ///< shared_key and key_index apply
  bool secret;  ///< must be zeroized

  const uint8_t* data(const BatchView& batch) const { return in != nullptr ? batch.*in : batch.*out; }
  size_t records(const BatchView& batch) const { return key && batch.shared_key ? 1 : batch.count; }
};

/// Every array of records; item_status is not one of them.
inline constexpr FieldInfo kRecordFields[] = {
    {field::kCoins, &BatchView::coins, nullptr, &RecordBytes::coins, false, true},
    {field::kPk, &BatchView::pk, nullptr, &RecordBytes::pk, true, false},
    {field::kSk, &BatchView::sk, nullptr, &RecordBytes::sk, true, true},
    {field::kCt, &BatchView::ct, nullptr, &RecordBytes::ct, false, false},
    {field::kPkOut, nullptr, &BatchView::pk_out, &RecordBytes::pk, false, false},
    {field::kSkOut, nullptr, &BatchView::sk_out, &RecordBytes::sk, false, true},
    {field::kCtOut, nullptr, &BatchView::ct_out, &RecordBytes::ct, false, false},
    {field::kSsOut, nullptr, &BatchView::ss_out, &RecordBytes::ss, false, true},
    {field::kSig, &BatchView::sig, nullptr, &RecordBytes::sig, false, false},
    {field::kSigOut, nullptr, &BatchView::sig_out, &RecordBytes::sig, false, false},
};

inline BatchView BatchView::slice(const RecordBytes& bytes, size_t first, size_t items) const {
  BatchView part = *this;
  part.count = items;
  for (const FieldInfo& f : kRecordFields) {
    if (f.data(*this) == nullptr || (f.key && (shared_key || key_index != nullptr))) continue;
    if (f.in != nullptr) part.*f.in += first * (bytes.*f.bytes);
    if (f.out != nullptr) part.*f.out += first * (bytes.*f.bytes);
  }
  if (key_index != nullptr) part.key_index += first;
  if (item_status != nullptr) part.item_status += first;
  part.expanded = expanded.slice(first);
  part.message = message.slice(first);
  return part;
}

}  // namespace polykem
