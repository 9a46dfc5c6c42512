// SPDX-License-Identifier: Apache-2.0
// The ciphers of contexts [HPKE, 5.2].
#pragma once

#include "hpke/key_schedule.hpp"

namespace polykem::hpke {

/// Seals and opens messages with the cipher of a suite. Each thread has its own, whose OpenSSL contexts are made once.
class MessageCipher {
 public:
  explicit MessageCipher(const Suite& suite);

  /// Writes plaintext.size() + kTagBytes bytes. number: the message's sequence number.
  bool seal(const ContextSecrets& secrets, std::uint64_t number, ByteView aad, ByteView plaintext,
            std::uint8_t* ciphertext);

  enum class OpenResult { kOpened, kRejected, kFailed };
  /// Writes ciphertext.size() - kTagBytes bytes, zeros if it does not open.
  OpenResult open(const ContextSecrets& secrets, std::uint64_t number, ByteView aad, ByteView ciphertext,
                  std::uint8_t* plaintext);

 private:
  CipherContextPtr encrypt_, decrypt_;
};

}  // namespace polykem::hpke
