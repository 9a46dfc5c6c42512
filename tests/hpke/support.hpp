// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "hpke/hpke.hpp"

namespace polykem::hpke::test {

inline polykem_context* context(unsigned threads = 1) {
  static const Context one(1), three(3);
  return (threads == 1 ? one : three).handle();
}

inline Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

/// `count` messages of `width` bytes that differ.
inline Bytes messages(std::size_t count, std::size_t width) {
  Bytes out(count * width);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return out;
}

/// The AEADs that seal messages.
inline std::vector<AeadInfo> ciphers() {
  std::vector<AeadInfo> all = aeads();
  std::erase_if(all, [](const AeadInfo& aead) { return aead.id == Aead::kExportOnly; });
  return all;
}

struct Pairs {
  Bytes pk;
  SecretBytes sk;
};

inline Pairs pairs(const Suite& suite, std::size_t count) {
  Pairs made{Bytes(count * suite.public_key_bytes()), SecretBytes(count * suite.secret_key_bytes())};
  generate(context(3), suite, count, made.pk.data(), made.sk.data());
  return made;
}

struct Sealed {
  std::size_t count, width;
  Bytes enc, ct;
  std::vector<ItemStatus> status;
  std::size_t failed;
};

struct Opened {
  Bytes plaintexts;
  std::vector<ItemStatus> status;
  std::size_t failed;
};

/// Info and additional data of a test, and how it computes.
struct How {
  Bytes info = bytes_of("info"), aad = bytes_of("additional data");
  bool shared = false;
  unsigned threads = 3;
  const Bytes* coins = nullptr;
  Bytes psk = {}, psk_id = {};
};

inline Sealed seal_all(const Suite& suite, const Bytes& pk, const Bytes& plaintexts, std::size_t count,
                       const How& how = {}) {
  Sealed out{count, plaintexts.size() / count, Bytes(count * suite.enc_bytes(), 0xee), {}, {}, 0};
  out.ct.assign(count * (out.width + kTagBytes), 0xee);
  out.status.resize(count, ItemStatus::kInternal);
  SealRequest request;
  request.count = count;
  request.pk = {pk.data(), how.shared};
  request.info = for_all(how.info);
  request.aad = for_all(how.aad);
  request.psk = {for_all(how.psk), for_all(how.psk_id)};
  request.plaintexts = {plaintexts.data(), out.width};
  request.coins = how.coins ? how.coins->data() : nullptr;
  request.enc = out.enc.data();
  request.ciphertexts = {out.ct.data()};
  request.status = out.status.data();
  out.failed = seal(context(how.threads), suite, request);
  return out;
}

inline Opened open_all(const Suite& suite, const SecretBytes& sk, const Sealed& sealed, const How& how = {}) {
  Opened out{Bytes(sealed.count * sealed.width, 0xee), std::vector<ItemStatus>(sealed.count), 0};
  OpenRequest request;
  request.count = sealed.count;
  request.sk = {sk.data(), how.shared};
  request.info = for_all(how.info);
  request.aad = for_all(how.aad);
  request.psk = {for_all(how.psk), for_all(how.psk_id)};
  request.enc = sealed.enc.data();
  request.ciphertexts = {sealed.ct.data(), sealed.width + kTagBytes};
  request.plaintexts = {out.plaintexts.data()};
  request.status = out.status.data();
  out.failed = open(context(how.threads), suite, request);
  return out;
}

inline Sender sender_of(const Suite& suite, const Bytes& pk, std::size_t count, Bytes& enc, const How& how = {}) {
  enc.assign(count * suite.enc_bytes(), 0xee);
  SenderRequest request;
  request.count = count;
  request.pk = {pk.data(), how.shared};
  request.info = for_all(how.info);
  request.psk = {for_all(how.psk), for_all(how.psk_id)};
  request.coins = how.coins ? how.coins->data() : nullptr;
  request.enc = enc.data();
  return {context(how.threads), suite, request};
}

inline Recipient recipient_of(const Suite& suite, const SecretBytes& sk, std::size_t count, const Bytes& enc,
                              const How& how = {}) {
  RecipientRequest request;
  request.count = count;
  request.sk = {sk.data(), how.shared};
  request.info = for_all(how.info);
  request.psk = {for_all(how.psk), for_all(how.psk_id)};
  request.enc = enc.data();
  return {context(how.threads), suite, request};
}

/// The next message of every context.
inline Sealed seal_next(Sender& sender, const Bytes& plaintexts, const Bytes& aad) {
  const std::size_t count = sender.count();
  Sealed out{count, plaintexts.size() / count, {}, {}, std::vector<ItemStatus>(count), 0};
  out.ct.assign(plaintexts.size() + count * kTagBytes, 0xee);
  ContextSealRequest request;
  request.count = count;
  request.aad = for_all(aad);
  request.plaintexts = {plaintexts.data(), out.width};
  request.ciphertexts = {out.ct.data()};
  request.status = out.status.data();
  out.failed = sender.seal(request);
  return out;
}

/// The next message of every context, or those with the given numbers.
inline Opened open_next(Recipient& recipient, const Sealed& sealed, const Bytes& aad,
                        const std::vector<std::uint64_t>& numbers = {}) {
  Opened out{Bytes(sealed.count * sealed.width, 0xee), std::vector<ItemStatus>(sealed.count), 0};
  ContextOpenRequest request;
  request.count = sealed.count;
  request.aad = for_all(aad);
  request.ciphertexts = {sealed.ct.data(), sealed.width + kTagBytes};
  request.numbers = numbers.empty() ? nullptr : numbers.data();
  request.plaintexts = {out.plaintexts.data()};
  request.status = out.status.data();
  out.failed = recipient.open(request);
  return out;
}

inline Bytes exported(Contexts& contexts, const Bytes& exporter_context, std::size_t bytes) {
  Bytes out(contexts.count() * bytes, 0xee);
  ExportRequest request;
  request.count = contexts.count();
  request.contexts = for_all(exporter_context);
  request.bytes = bytes;
  request.out = out.data();
  EXPECT_EQ(contexts.failed(), contexts.export_secrets(request));
  return out;
}

inline bool all_zero(const Bytes& bytes, std::size_t first, std::size_t count) {
  return std::all_of(bytes.begin() + first, bytes.begin() + first + count, [](std::uint8_t b) { return b == 0; });
}

}  // namespace polykem::hpke::test
