// SPDX-License-Identifier: Apache-2.0
#include "hpke/message_cipher.hpp"

#include <algorithm>
#include <cstring>

namespace polykem::hpke {
namespace {

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

using Nonce = std::array<std::uint8_t, kNonceBytes>;

/// ComputeNonce: the number as a big-endian integer, added to the base nonce bit by bit.
Nonce nonce_of(const ContextSecrets& secrets, std::uint64_t number) {
  Nonce nonce = secrets.base_nonce;
  for (std::size_t i = kNonceBytes; number != 0; number >>= 8)
    nonce[--i] ^= static_cast<std::uint8_t>(number);
  return nonce;
}

}  // namespace

MessageCipher::MessageCipher(const Suite& suite) {
  const EVP_CIPHER* cipher = suite.algorithms().aead.get();
  if (!cipher) return;
  encrypt_ = cipher_context(cipher, true);
  decrypt_ = cipher_context(cipher, false);
}

bool MessageCipher::seal(const ContextSecrets& secrets, std::uint64_t number, ByteView aad, ByteView plaintext,
                         std::uint8_t* ciphertext) {
  EVP_CIPHER_CTX* context = encrypt_.get();
  int written = 0;
  const Nonce nonce = nonce_of(secrets, number);
  return EVP_EncryptInit_ex2(context, nullptr, secrets.key.data(), nonce.data(), nullptr) == 1 &&
         update(context, true, nullptr, aad) && update(context, true, ciphertext, plaintext) &&
         EVP_EncryptFinal_ex(context, ciphertext + plaintext.size(), &written) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagBytes, ciphertext + plaintext.size()) == 1;
}

MessageCipher::OpenResult MessageCipher::open(const ContextSecrets& secrets, std::uint64_t number, ByteView aad,
                                              ByteView ciphertext, std::uint8_t* plaintext) {
  if (ciphertext.size() < kTagBytes) return OpenResult::kRejected;
  EVP_CIPHER_CTX* context = decrypt_.get();
  const std::size_t bytes = ciphertext.size() - kTagBytes;
  std::array<std::uint8_t, kTagBytes> tag;
  std::memcpy(tag.data(), ciphertext.data() + bytes, kTagBytes);
  int written = 0;
  std::uint8_t rest = 0;  // GCM and ChaCha20-Poly1305 keep nothing back for the end
  const Nonce nonce = nonce_of(secrets, number);
  const bool done = EVP_DecryptInit_ex2(context, nullptr, secrets.key.data(), nonce.data(), nullptr) == 1 &&
                    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
                    update(context, false, nullptr, aad) &&
                    update(context, false, plaintext, {ciphertext.data(), bytes});
  const bool right = done && EVP_DecryptFinal_ex(context, &rest, &written) == 1;
  if (!right && bytes > 0) polykem_zeroize(plaintext, bytes);
  return right ? OpenResult::kOpened : done ? OpenResult::kRejected : OpenResult::kFailed;
}

}  // namespace polykem::hpke
