// SPDX-License-Identifier: Apache-2.0
// From a KEM's shared secret to the key and nonce of one message, and the message itself [HPKE, 5.1, 6.1]. Base mode,
// first message of its context: the nonce is the base nonce, the exporter secret is not computed.
#pragma once

#include <array>
#include <optional>

#include "hpke/openssl.hpp"
#include "hpke/suite.hpp"

namespace polykem::hpke {

/// What all messages of a batch share: everything that is hashed but the shared secret.
struct KeySchedule {
  KeySchedule(const Suite& suite, ByteView info);

  const KdfInfo& kdf;
  const AeadInfo& aead;
  const EVP_MD* digest;
  const EVP_CIPHER* cipher;
  /* A KDF of two stages: the messages of its three HMACs. */
  Bytes secret_message, key_message, nonce_message;
  /* A KDF of one stage: its only message, with a gap for the shared secret. */
  Bytes derive_message;
  std::size_t derive_gap = 0;
};

/// Seals and opens single messages; one for each thread. Its contexts are made once.
class MessageCipher {
 public:
  explicit MessageCipher(const KeySchedule& schedule);
  ~MessageCipher();
  MessageCipher(const MessageCipher&) = delete;
  MessageCipher& operator=(const MessageCipher&) = delete;

  /// Writes plaintext.size() + kTagBytes.
  bool seal(const std::uint8_t* shared_secret, ByteView aad, ByteView plaintext, std::uint8_t* ciphertext);

  enum class Opened { kYes, kNo, kFailed };
  /// Writes ciphertext.size() - kTagBytes; zeros unless it is opened.
  Opened open(const std::uint8_t* shared_secret, ByteView aad, ByteView ciphertext, std::uint8_t* plaintext);

  /// The first half of both: key and nonce, kept inside.
  bool derive(const std::uint8_t* shared_secret);

 private:
  bool derive_two_stages(const std::uint8_t* shared_secret);
  bool derive_one_stage(const std::uint8_t* shared_secret);
  bool hmac(ByteView key, ByteView message, std::uint8_t* out);

  const KeySchedule& schedule_;
  DigestContextPtr digest_;
  CipherContextPtr encrypt_, decrypt_;
  SecretBytes block_;    ///< the padded key of an HMAC and its message; or the one-stage message
  SecretBytes secrets_;  ///< key, then nonce, where derive() leaves them; the two-stage secret behind
};

}  // namespace polykem::hpke
