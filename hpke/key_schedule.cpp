// SPDX-License-Identifier: Apache-2.0
#include "hpke/key_schedule.hpp"

#include <algorithm>
#include <cstring>

namespace polykem::hpke {
namespace {

constexpr std::string_view kVersion = "HPKE-v1";
constexpr std::uint8_t kModeBase = 0;
constexpr std::size_t kMaxHashBytes = 64;
/* Where MessageCipher::secrets_ has them. */
constexpr std::size_t kNonceAt = kMaxHashBytes, kSecretAt = 2 * kMaxHashBytes, kInnerAt = 3 * kMaxHashBytes;
constexpr std::size_t kSecretsBytes = 4 * kMaxHashBytes;

void add(Bytes& to, std::string_view text) {
  to.insert(to.end(), text.begin(), text.end());
}
void add(Bytes& to, ByteView bytes) {
  to.insert(to.end(), bytes.data(), bytes.data() + bytes.size());
}
void add_number(Bytes& to, std::size_t value) {  // I2OSP(value, 2)
  to.push_back(static_cast<std::uint8_t>(value >> 8));
  to.push_back(static_cast<std::uint8_t>(value));
}

/// "HPKE", and the three numbers [HPKE, 5.1].
Bytes suite_id(const Suite& suite) {
  Bytes id;
  add(id, "HPKE");
  add_number(id, static_cast<std::size_t>(suite.kem().id));
  add_number(id, static_cast<std::size_t>(suite.kdf().id));
  add_number(id, static_cast<std::size_t>(suite.aead().id));
  return id;
}

/// What LabeledExtract extracts from [HPKE, 4.4].
Bytes extract_message(const Bytes& id, std::string_view label, ByteView ikm) {
  Bytes message;
  add(message, kVersion);
  add(message, id);
  add(message, label);
  add(message, ikm);
  return message;
}

/// What LabeledExpand gives to the only HMAC of an expansion of at most one hash [HPKE, 4.4], [RFC5869, 2.3].
Bytes expand_message(const Bytes& id, std::string_view label, const Bytes& context, std::size_t bytes) {
  Bytes message;
  add_number(message, bytes);
  add(message, kVersion);
  add(message, id);
  add(message, label);
  add(message, context);
  message.push_back(1);
  return message;
}

bool update(EVP_CIPHER_CTX* context, bool encrypt, std::uint8_t* out, ByteView in) {
  constexpr std::size_t kAtOnce = 1 << 30;  // EVP counts in int
  for (std::size_t done = 0; done < in.size();) {
    const int bytes = static_cast<int>(std::min(kAtOnce, in.size() - done));
    std::uint8_t* to = out ? out + done : nullptr;
    int written = 0;
    const int ok = encrypt ? EVP_EncryptUpdate(context, to, &written, in.data() + done, bytes)
                           : EVP_DecryptUpdate(context, to, &written, in.data() + done, bytes);
    if (ok != 1) return false;
    done += static_cast<std::size_t>(bytes);
  }
  return true;
}

CipherContextPtr cipher_context(const EVP_CIPHER* cipher, bool encrypt) {
  CipherContextPtr context(EVP_CIPHER_CTX_new());
  if (!context || EVP_CipherInit_ex2(context.get(), cipher, nullptr, nullptr, encrypt, nullptr) != 1)
    throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "AEAD of HPKE");
  return context;
}

}  // namespace

KeySchedule::KeySchedule(const Suite& suite, ByteView info)
    : kdf(suite.kdf()),
      aead(suite.aead()),
      digest(suite.algorithms().kdf.get()),
      cipher(suite.algorithms().aead.get()) {
  const Bytes id = suite_id(suite);
  if (kdf.block_bytes == 0) {  // CombineSecrets_OneStage, without a pre-shared key
    if (info.size() > kMaxOneStageInfoBytes) throw Error(POLYKEM_ERR_SIZE, "info of HPKE");
    add_number(derive_message, 0);
    add_number(derive_message, kSharedSecretBytes);
    derive_gap = derive_message.size();
    derive_message.resize(derive_gap + kSharedSecretBytes);
    add(derive_message, kVersion);
    add(derive_message, id);
    add_number(derive_message, std::string_view("secret").size());
    add(derive_message, "secret");
    add_number(derive_message, aead.key_bytes + kNonceBytes + kdf.hash_bytes);
    derive_message.push_back(kModeBase);
    add_number(derive_message, 0);
    add_number(derive_message, info.size());
    add(derive_message, info);
    return;
  }
  secret_message = extract_message(id, "secret", {});
  Bytes context = {kModeBase};
  for (const Bytes& message : {extract_message(id, "psk_id_hash", {}), extract_message(id, "info_hash", info)}) {
    // The extraction's salt is empty, which HMAC pads like any key.
    SecretBytes inner(kdf.block_bytes, 0x36), outer(kdf.block_bytes, 0x5c);
    inner.insert(inner.end(), message.begin(), message.end());
    outer.resize(kdf.block_bytes + kdf.hash_bytes);
    if (EVP_Digest(inner.data(), inner.size(), outer.data() + kdf.block_bytes, nullptr, digest, nullptr) != 1 ||
        EVP_Digest(outer.data(), outer.size(), outer.data(), nullptr, digest, nullptr) != 1)
      throw Error(POLYKEM_ERR_INTERNAL, "hash of HPKE");
    add(context, ByteView(outer.data(), kdf.hash_bytes));
  }
  key_message = expand_message(id, "key", context, aead.key_bytes);
  nonce_message = expand_message(id, "base_nonce", context, kNonceBytes);
}

MessageCipher::MessageCipher(const KeySchedule& schedule)
    : schedule_(schedule), digest_(EVP_MD_CTX_new()), secrets_(kSecretsBytes) {
  if (!digest_ || EVP_DigestInit_ex2(digest_.get(), schedule.digest, nullptr) != 1)
    throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "hash of HPKE");
  encrypt_ = cipher_context(schedule.cipher, true);
  decrypt_ = cipher_context(schedule.cipher, false);
  const std::size_t longest = std::max(
      {schedule.secret_message.size(), schedule.key_message.size(), schedule.nonce_message.size(), kMaxHashBytes});
  block_.resize(schedule.kdf.block_bytes + longest);
  if (schedule.kdf.block_bytes == 0) block_.assign(schedule.derive_message.begin(), schedule.derive_message.end());
}

MessageCipher::~MessageCipher() = default;

/// HMAC [RFC2104]; no key here is longer than a block.
bool MessageCipher::hmac(ByteView key, ByteView message, std::uint8_t* out) {
  const std::size_t block = schedule_.kdf.block_bytes, hash = schedule_.kdf.hash_bytes;
  std::uint8_t* inner_hash = secrets_.data() + kInnerAt;
  EVP_MD_CTX* context = digest_.get();
  std::memset(block_.data(), 0x36, block);
  for (std::size_t i = 0; i < key.size(); ++i)
    block_[i] ^= key.data()[i];
  std::memcpy(block_.data() + block, message.data(), message.size());
  bool ok = EVP_DigestInit_ex2(context, nullptr, nullptr) == 1 &&
            EVP_DigestUpdate(context, block_.data(), block + message.size()) == 1 &&
            EVP_DigestFinal_ex(context, inner_hash, nullptr) == 1;
  for (std::size_t i = 0; i < block; ++i)
    block_[i] ^= 0x36 ^ 0x5c;
  std::memcpy(block_.data() + block, inner_hash, hash);
  ok = ok && EVP_DigestInit_ex2(context, nullptr, nullptr) == 1 &&
       EVP_DigestUpdate(context, block_.data(), block + hash) == 1 && EVP_DigestFinal_ex(context, out, nullptr) == 1;
  return ok;
}

bool MessageCipher::derive_two_stages(const std::uint8_t* shared_secret) {
  const ByteView secret(secrets_.data() + kSecretAt, schedule_.kdf.hash_bytes);
  return hmac({shared_secret, kSharedSecretBytes}, schedule_.secret_message, secrets_.data() + kSecretAt) &&
         hmac(secret, schedule_.key_message, secrets_.data()) &&
         hmac(secret, schedule_.nonce_message, secrets_.data() + kNonceAt);
}

bool MessageCipher::derive_one_stage(const std::uint8_t* shared_secret) {
  std::memcpy(block_.data() + schedule_.derive_gap, shared_secret, kSharedSecretBytes);
  std::array<std::uint8_t, kMaxKeyBytes + kNonceBytes> out;
  // The exporter secret would follow; the output of a SHAKE may be cut.
  const std::size_t key_bytes = schedule_.aead.key_bytes;
  const bool ok = EVP_DigestInit_ex2(digest_.get(), nullptr, nullptr) == 1 &&
                  EVP_DigestUpdate(digest_.get(), block_.data(), block_.size()) == 1 &&
                  EVP_DigestFinalXOF(digest_.get(), out.data(), key_bytes + kNonceBytes) == 1;
  std::memcpy(secrets_.data(), out.data(), key_bytes);
  std::memcpy(secrets_.data() + kNonceAt, out.data() + key_bytes, kNonceBytes);
  polykem_zeroize(out.data(), out.size());
  return ok;
}

bool MessageCipher::derive(const std::uint8_t* shared_secret) {
  return schedule_.kdf.block_bytes == 0 ? derive_one_stage(shared_secret) : derive_two_stages(shared_secret);
}

bool MessageCipher::seal(const std::uint8_t* shared_secret, ByteView aad, ByteView plaintext,
                         std::uint8_t* ciphertext) {
  EVP_CIPHER_CTX* context = encrypt_.get();
  int written = 0;
  const std::uint8_t *key = secrets_.data(), *nonce = key + kNonceAt;
  return derive(shared_secret) && EVP_EncryptInit_ex2(context, nullptr, key, nonce, nullptr) == 1 &&
         update(context, true, nullptr, aad) && update(context, true, ciphertext, plaintext) &&
         EVP_EncryptFinal_ex(context, ciphertext + plaintext.size(), &written) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagBytes, ciphertext + plaintext.size()) == 1;
}

MessageCipher::Opened MessageCipher::open(const std::uint8_t* shared_secret, ByteView aad, ByteView ciphertext,
                                          std::uint8_t* plaintext) {
  if (ciphertext.size() < kTagBytes) return Opened::kNo;
  EVP_CIPHER_CTX* context = decrypt_.get();
  const std::size_t bytes = ciphertext.size() - kTagBytes;
  std::array<std::uint8_t, kTagBytes> tag;
  std::memcpy(tag.data(), ciphertext.data() + bytes, kTagBytes);
  int written = 0;
  std::uint8_t rest = 0;  // GCM and ChaCha20-Poly1305 keep nothing back for the end
  const std::uint8_t *key = secrets_.data(), *nonce = key + kNonceAt;
  const bool done = derive(shared_secret) && EVP_DecryptInit_ex2(context, nullptr, key, nonce, nullptr) == 1 &&
                    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
                    update(context, false, nullptr, aad) &&
                    update(context, false, plaintext, {ciphertext.data(), bytes});
  const bool right = done && EVP_DecryptFinal_ex(context, &rest, &written) == 1;
  if (!right && bytes > 0) polykem_zeroize(plaintext, bytes);
  return right ? Opened::kYes : done ? Opened::kNo : Opened::kFailed;
}

}  // namespace polykem::hpke
