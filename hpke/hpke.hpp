// SPDX-License-Identifier: Apache-2.0
// Hybrid public key encryption [HPKE] in base mode, single shot, in batches: every item has an encapsulation of its own
// and one message under it. The KEM is computed over the batch by the context, on a GPU too if that has it; key
// schedule and ciphers come from OpenSSL, an item at a time, on as many threads as the context has.
//
//  - Records (keys, encapsulations, coins) are contiguous and of fixed size: Suite says how long.
//  - An item that fails does not fail the batch: its status says why, its outputs are zero, the others are done.
//  - What fails as a whole throws polykem::Error; outputs are then not to be used.
//  - Outputs must not overlap inputs or each other.
#pragma once

#include "hpke/suite.hpp"

namespace polykem::hpke {

enum class ItemStatus : std::int32_t {
  kOk = POLYKEM_OK,
  kPublicKey = POLYKEM_ERR_PUBLIC_KEY,  ///< malformed: a coefficient that is not reduced, a point that is none
  kSecretKey = POLYKEM_ERR_SECRET_KEY,  ///< a seed from which no scalar follows; does not happen by chance
  kInternal = POLYKEM_ERR_INTERNAL,     ///< OpenSSL failed
  kEncapsulation = 101,                 ///< malformed: a point that is none
  kOpen = 102,  ///< what is opened was not sealed so: another key, info or aad, or bytes that were changed
};

/// A short English sentence, static storage.
const char* item_status_text(ItemStatus status);

/// Records of fixed size, one each or the same for all items.
struct Records {
  const std::uint8_t* data = nullptr;
  bool shared = false;
};

/// Messages: `width` bytes each; or, with offsets, item i from offsets[i] to offsets[i + 1]; or one of `width` bytes
/// for all items.
struct Messages {
  const std::uint8_t* data = nullptr;
  std::size_t width = 0;
  const std::uint64_t* offsets = nullptr;  ///< count + 1, ascending
  bool shared = false;

  ByteView at(std::size_t i) const {
    if (offsets) return {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    return {data + (shared ? 0 : i * width), width};
  }
};

/// Where messages go: contiguous, or, where the inputs have offsets, from offsets[i] to offsets[i + 1]. Those must
/// leave room for exactly what item i yields: a tag more than its plaintext; a tag less than its ciphertext, and
/// nothing for a ciphertext that is shorter than a tag.
struct MessagesOut {
  std::uint8_t* data = nullptr;
  const std::uint64_t* offsets = nullptr;  ///< count + 1
};

struct SealRequest {
  std::size_t count = 0;
  Records pk;
  ByteView info, aad;  ///< the same for all items
  Messages plaintexts;
  const std::uint8_t* coins = nullptr;  ///< for tests: count records of coin_bytes() instead of random bytes
  std::uint8_t* enc = nullptr;
  MessagesOut ciphertexts;
  ItemStatus* status = nullptr;  ///< count entries, or nullptr
};

struct OpenRequest {
  std::size_t count = 0;
  Records sk;
  ByteView info, aad;  ///< the same for all items
  const std::uint8_t* enc = nullptr;
  Messages ciphertexts;
  MessagesOut plaintexts;
  ItemStatus* status = nullptr;  ///< count entries, or nullptr
};

/// Each returns how many items failed.
std::size_t seal(polykem_context* context, const Suite& suite, const SealRequest& request);
std::size_t open(polykem_context* context, const Suite& suite, const OpenRequest& request);

/// `count` key pairs from random bytes.
void generate(polykem_context* context, const Suite& suite, std::size_t count, std::uint8_t* pk, std::uint8_t* sk);
/// DeriveKeyPair for `count` records of ikm_bytes; [HPKE, 4.1] asks for at least secret_key_bytes() of entropy. Returns
/// how many items failed.
std::size_t derive_key_pairs(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* ikm,
                             std::size_t ikm_bytes, std::uint8_t* pk, std::uint8_t* sk, ItemStatus* status = nullptr);
/// The public keys of secret keys. Returns how many items failed.
std::size_t public_keys(polykem_context* context, const Suite& suite, std::size_t count, const std::uint8_t* sk,
                        std::uint8_t* pk, ItemStatus* status = nullptr);

}  // namespace polykem::hpke
