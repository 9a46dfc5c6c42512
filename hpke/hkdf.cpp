// SPDX-License-Identifier: Apache-2.0
#include "hpke/hkdf.hpp"

#include <algorithm>
#include <cstring>

namespace polykem::hpke {

SecretBytes extract_message(const Bytes& suite_id, std::string_view label, ByteView ikm) {
  SecretBytes message;
  add(message, kVersion);
  add(message, suite_id);
  add(message, label);
  add(message, ikm);
  return message;
}

Bytes expand_message(const Bytes& suite_id, std::string_view label, ByteView context, std::size_t bytes) {
  Bytes message;
  add_number(message, bytes);
  add(message, kVersion);
  add(message, suite_id);
  add(message, label);
  add(message, context);
  return message;
}

DigestContextPtr digest_context(const EVP_MD* digest) {
  DigestContextPtr context(EVP_MD_CTX_new());
  if (!context || EVP_DigestInit_ex2(context.get(), digest, nullptr) != 1)
    throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "hash of HPKE");
  return context;
}

bool hmac(const KdfInfo& kdf, EVP_MD_CTX* digest, SecretBytes& room, ByteView key, ByteView message,
          std::uint8_t* out) {
  const std::size_t block = kdf.block_bytes, hash = kdf.hash_bytes;
  room.resize(std::max(room.size(), block + std::max(message.size(), hash)));
  std::uint8_t* const after = room.data() + block;
  std::memset(room.data(), 0x36, block);
  for (std::size_t i = 0; i < key.size(); ++i)
    room[i] ^= key.data()[i];
  std::memcpy(after, message.data(), message.size());
  const bool inner = EVP_DigestInit_ex2(digest, nullptr, nullptr) == 1 &&
                     EVP_DigestUpdate(digest, room.data(), block + message.size()) == 1 &&
                     EVP_DigestFinal_ex(digest, after, nullptr) == 1;
  for (std::size_t i = 0; i < block; ++i)
    room[i] ^= 0x36 ^ 0x5c;
  return inner && EVP_DigestInit_ex2(digest, nullptr, nullptr) == 1 &&
         EVP_DigestUpdate(digest, room.data(), block + hash) == 1 && EVP_DigestFinal_ex(digest, out, nullptr) == 1;
}

}  // namespace polykem::hpke
