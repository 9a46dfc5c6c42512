// SPDX-License-Identifier: Apache-2.0
// From a KEM's shared secret to the secrets of a context, and from them to exported secrets [HPKE, 5.1, 5.3].
#pragma once

#include <array>

#include "hpke/openssl.hpp"
#include "hpke/suite.hpp"

namespace polykem::hpke {

inline constexpr std::size_t kMaxHashBytes = 64;

/// The result of a setup, which a context keeps.
struct ContextSecrets {
  ContextSecrets() = default;
  ContextSecrets(const ContextSecrets&) = default;
  ContextSecrets& operator=(const ContextSecrets&) = default;
  ~ContextSecrets() { polykem_zeroize(this, sizeof *this); }

  std::array<std::uint8_t, kMaxKeyBytes> key{};
  std::array<std::uint8_t, kNonceBytes> base_nonce{};
  std::array<std::uint8_t, kMaxHashBytes> exporter{};
};

/// The inputs of a key schedule besides the shared secret. With a pre-shared key the mode is PSK, otherwise base.
struct Binding {
  ByteView info, psk, psk_id;
};

/// Everything that a key schedule hashes, except the shared secret.
struct KeySchedule {
  KeySchedule(const Suite& suite, const Binding& binding);

  /* A KDF of two stages: the messages of its HMACs. */
  SecretBytes secret_message;
  Bytes key_message, nonce_message, exporter_message;
  /* A KDF of one stage: its only message, with a gap for the shared secret. */
  SecretBytes derive_message;
  std::size_t derive_gap = 0;
};

/// Runs key schedules of one suite; one for each thread.
class Deriver {
 public:
  explicit Deriver(const Suite& suite);
  Deriver(const Deriver&) = delete;
  Deriver& operator=(const Deriver&) = delete;

  /// Writes key and base nonce and, if `exporter` is set, the exporter secret. Returns false if OpenSSL failed.
  bool derive(const KeySchedule& schedule, const std::uint8_t* shared_secret, bool exporter, ContextSecrets& out);
  /// Context.Export [HPKE, 5.3] of at most max_export_bytes() bytes. Returns false if OpenSSL failed.
  bool export_secret(const ContextSecrets& from, ByteView exporter_context, std::size_t bytes, std::uint8_t* out);

 private:
  bool derive_two_stages(const KeySchedule& schedule, const std::uint8_t* shared_secret, bool exporter,
                         ContextSecrets& out);
  bool derive_one_stage(const KeySchedule& schedule, const std::uint8_t* shared_secret, bool exporter,
                        ContextSecrets& out);
  bool expand(ByteView secret, ByteView message, std::size_t bytes, std::uint8_t* out);
  bool hmac(ByteView key, ByteView message, std::uint8_t* out);
  bool shake(ByteView message, std::size_t bytes, std::uint8_t* out);

  const KdfInfo& kdf_;
  const AeadInfo& aead_;
  Bytes suite_id_;
  DigestContextPtr digest_;
  SecretBytes block_;    ///< the padded key of an HMAC and its message; or a one-stage message
  SecretBytes secrets_;  ///< intermediate hashes
};

}  // namespace polykem::hpke
