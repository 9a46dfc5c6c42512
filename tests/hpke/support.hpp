// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

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
};

inline Sealed seal_all(const Suite& suite, const Bytes& pk, const Bytes& plaintexts, std::size_t count,
                       const How& how = {}) {
  Sealed out{count, plaintexts.size() / count, Bytes(count * suite.enc_bytes(), 0xee), {}, {}, 0};
  out.ct.assign(count * (out.width + kTagBytes), 0xee);
  out.status.resize(count, ItemStatus::kInternal);
  SealRequest request;
  request.count = count;
  request.pk = {pk.data(), how.shared};
  request.info = how.info;
  request.aad = how.aad;
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
  request.info = how.info;
  request.aad = how.aad;
  request.enc = sealed.enc.data();
  request.ciphertexts = {sealed.ct.data(), sealed.width + kTagBytes};
  request.plaintexts = {out.plaintexts.data()};
  request.status = out.status.data();
  out.failed = open(context(how.threads), suite, request);
  return out;
}

inline bool all_zero(const Bytes& bytes, std::size_t first, std::size_t count) {
  return std::all_of(bytes.begin() + first, bytes.begin() + first + count, [](std::uint8_t b) { return b == 0; });
}

}  // namespace polykem::hpke::test
