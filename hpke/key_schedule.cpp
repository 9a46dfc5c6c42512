// SPDX-License-Identifier: Apache-2.0
#include "hpke/key_schedule.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "hpke/hkdf.hpp"

namespace polykem::hpke {
namespace {

constexpr std::uint8_t kModeBase = 0, kModePsk = 1;
/* Offsets in Deriver::secrets_, and its size. */
constexpr std::size_t kOutAt = 0, kSecretAt = kMaxHashBytes, kSecretsBytes = 2 * kMaxHashBytes;

/// The suite_id: "HPKE" and the three numbers [HPKE, 5.1].
Bytes suite_id(const Suite& suite) {
  Bytes id;
  add(id, "HPKE");
  add_number(id, static_cast<std::size_t>(suite.kem().id));
  add_number(id, static_cast<std::size_t>(suite.kdf().id));
  add_number(id, static_cast<std::size_t>(suite.aead().id));
  return id;
}

void add_with_length(auto& to, ByteView bytes, const std::string& name) {
  if (bytes.size() > kMaxOneStageBytes)
    throw Error(POLYKEM_ERR_SIZE, name + " has " + std::to_string(bytes.size()) + " bytes; SHAKE takes at most " +
                                      std::to_string(kMaxOneStageBytes));
  add_number(to, bytes.size());
  add(to, bytes);
}

/// Appends HMAC(key = "", message), which is LabeledExtract without a salt.
void extract_unsalted(const Suite& suite, ByteView message, Bytes& to) {
  const KdfInfo& kdf = suite.kdf();
  const EVP_MD* digest = suite.algorithms().kdf.get();
  SecretBytes inner(kdf.block_bytes, 0x36), outer(kdf.block_bytes, 0x5c);
  add(inner, message);
  outer.resize(kdf.block_bytes + kdf.hash_bytes);
  if (EVP_Digest(inner.data(), inner.size(), outer.data() + kdf.block_bytes, nullptr, digest, nullptr) != 1 ||
      EVP_Digest(outer.data(), outer.size(), outer.data(), nullptr, digest, nullptr) != 1)
    throw Error(POLYKEM_ERR_INTERNAL, "hash of HPKE");
  add(to, ByteView(outer.data(), kdf.hash_bytes));
}

}  // namespace

KeySchedule::KeySchedule(const Suite& suite, const Binding& binding) {
  const KdfInfo& kdf = suite.kdf();
  const AeadInfo& aead = suite.aead();
  const Bytes id = suite_id(suite);
  const std::uint8_t mode = binding.psk.size() > 0 ? kModePsk : kModeBase;
  if (kdf.block_bytes == 0) {  // CombineSecrets_OneStage [HPKEPQ, 4]
    add_with_length(derive_message, binding.psk, "psk");
    add_number(derive_message, kSharedSecretBytes);
    derive_gap = derive_message.size();
    derive_message.resize(derive_gap + kSharedSecretBytes);
    add(derive_message, kVersion);
    add(derive_message, id);
    add_number(derive_message, std::string_view("secret").size());
    add(derive_message, "secret");
    add_number(derive_message, aead.key_bytes + aead.nonce_bytes() + kdf.hash_bytes);
    derive_message.push_back(mode);
    add_with_length(derive_message, binding.psk_id, "psk_id");
    add_with_length(derive_message, binding.info, "info");
    return;
  }
  secret_message = extract_message(id, "secret", binding.psk);
  Bytes context = {mode};
  extract_unsalted(suite, extract_message(id, "psk_id_hash", binding.psk_id), context);
  extract_unsalted(suite, extract_message(id, "info_hash", binding.info), context);
  key_message = expand_message(id, "key", context, aead.key_bytes);
  nonce_message = expand_message(id, "base_nonce", context, kNonceBytes);
  exporter_message = expand_message(id, "exp", context, kdf.hash_bytes);
  for (Bytes* message : {&key_message, &nonce_message, &exporter_message})
    message->push_back(1);  // the counter of HKDF's only block [RFC5869, 2.3]
}

Deriver::Deriver(const Suite& suite)
    : kdf_(suite.kdf()),
      aead_(suite.aead()),
      suite_id_(suite_id(suite)),
      digest_(digest_context(suite.algorithms().kdf.get())),
      secrets_(kSecretsBytes) {}

bool Deriver::hmac(ByteView key, ByteView message, std::uint8_t* out) {
  return hpke::hmac(kdf_, digest_.get(), block_, key, message, out);
}

bool Deriver::shake(ByteView message, std::size_t bytes, std::uint8_t* out) {
  return EVP_DigestInit_ex2(digest_.get(), nullptr, nullptr) == 1 &&
         EVP_DigestUpdate(digest_.get(), message.data(), message.size()) == 1 &&
         EVP_DigestFinalXOF(digest_.get(), out, bytes) == 1;
}

bool Deriver::derive_two_stages(const KeySchedule& schedule, const std::uint8_t* shared_secret, bool exporter,
                                ContextSecrets& out) {
  std::uint8_t* hash = secrets_.data() + kOutAt;
  const ByteView secret(secrets_.data() + kSecretAt, kdf_.hash_bytes);
  if (!hmac({shared_secret, kSharedSecretBytes}, schedule.secret_message, secrets_.data() + kSecretAt)) return false;
  if (aead_.key_bytes > 0) {
    if (!hmac(secret, schedule.key_message, hash)) return false;
    std::memcpy(out.key.data(), hash, aead_.key_bytes);
    if (!hmac(secret, schedule.nonce_message, hash)) return false;
    std::memcpy(out.base_nonce.data(), hash, kNonceBytes);
  }
  return !exporter || hmac(secret, schedule.exporter_message, out.exporter.data());
}

bool Deriver::derive_one_stage(const KeySchedule& schedule, const std::uint8_t* shared_secret, bool exporter,
                               ContextSecrets& out) {
  block_.assign(schedule.derive_message.begin(), schedule.derive_message.end());
  std::memcpy(block_.data() + schedule.derive_gap, shared_secret, kSharedSecretBytes);
  const std::size_t key = aead_.key_bytes, nonce = aead_.nonce_bytes();
  const std::size_t rest = exporter ? kdf_.hash_bytes : 0;  // a SHAKE's output may be truncated
  std::uint8_t* all = secrets_.data();
  if (!shake(block_, key + nonce + rest, all)) return false;
  std::memcpy(out.key.data(), all, key);
  std::memcpy(out.base_nonce.data(), all + key, nonce);
  std::memcpy(out.exporter.data(), all + key + nonce, rest);
  return true;
}

bool Deriver::derive(const KeySchedule& schedule, const std::uint8_t* shared_secret, bool exporter,
                     ContextSecrets& out) {
  return kdf_.block_bytes == 0 ? derive_one_stage(schedule, shared_secret, exporter, out)
                               : derive_two_stages(schedule, shared_secret, exporter, out);
}

/// HKDF-Expand [RFC5869, 2.3].
bool Deriver::expand(ByteView secret, ByteView message, std::size_t bytes, std::uint8_t* out) {
  std::uint8_t* hash = secrets_.data() + kOutAt;
  SecretBytes input;
  for (std::size_t done = 0; done < bytes; done += kdf_.hash_bytes) {
    add(input, message);
    input.push_back(static_cast<std::uint8_t>(done / kdf_.hash_bytes + 1));
    if (!hmac(secret, input, hash)) return false;
    std::memcpy(out + done, hash, std::min(kdf_.hash_bytes, bytes - done));
    input.assign(hash, hash + kdf_.hash_bytes);
  }
  return true;
}

bool Deriver::export_secret(const ContextSecrets& from, ByteView exporter_context, std::size_t bytes,
                            std::uint8_t* out) {
  const ByteView secret(from.exporter.data(), kdf_.hash_bytes);
  constexpr std::string_view kLabel = "sec";
  if (kdf_.block_bytes > 0)
    return expand(secret, expand_message(suite_id_, kLabel, exporter_context, bytes), bytes, out);
  block_.assign(secret.data(), secret.data() + secret.size());
  add(block_, kVersion);
  add(block_, suite_id_);
  add_number(block_, kLabel.size());
  add(block_, kLabel);
  add_number(block_, bytes);
  add(block_, exporter_context);
  return shake(block_, bytes, out);
}

}  // namespace polykem::hpke
