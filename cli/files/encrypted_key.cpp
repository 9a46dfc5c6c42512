// SPDX-License-Identifier: Apache-2.0
#include "files/encrypted_key.hpp"

#include <openssl/err.h>
#include <openssl/pkcs12.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/der.hpp"
#include "formats/error.hpp"
#include "formats/keys.hpp"

namespace polykem::cli {
namespace {

using formats::DerReader;
using formats::FormatError;
namespace der = formats::der;

struct EncryptedFree {
  void operator()(X509_SIG* key) const { X509_SIG_free(key); }
};

/// Reads a positive INTEGER. If it is larger than kMaxWork, returns some number above kMaxWork.
std::uint64_t work_of(ByteView integer) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < integer.size() && value <= kMaxWork; ++i)
    value = (value << 8) | integer.data()[i];
  return value;
}

/// Throws FormatError if the key derivation function would take far too long.
void check_work(ByteView encrypted, std::uint64_t max_work) {
  DerReader key(DerReader(encrypted).take(der::kSequence, "the key's SEQUENCE"));
  DerReader algorithm(key.take(der::kSequence, "AlgorithmIdentifier"));
  algorithm.take(der::kObjectIdentifier, "the algorithm's OBJECT IDENTIFIER");
  DerReader parameters(algorithm.take(der::kSequence, "the encryption's parameters"));
  if (parameters.next_is(der::kSequence)) {  // PBES2 has a key derivation function
    DerReader function(parameters.take(der::kSequence, "the key derivation"));
    function.take(der::kObjectIdentifier, "the key derivation's OBJECT IDENTIFIER");
    parameters = DerReader(function.take(der::kSequence, "the key derivation's parameters"));
  }
  parameters.take(der::kOctetString, "the salt");
  // The parameters of PBKDF2 are rounds and an optional length, those of scrypt N, r, p and an optional length.
  std::vector<std::uint64_t> numbers;
  while (parameters.next_is(der::kInteger))
    numbers.push_back(work_of(parameters.take(der::kInteger, "the amount of work")));
  const std::size_t factors = std::min<std::size_t>(numbers.size(), numbers.size() < 3 ? 1 : 3);
  std::uint64_t work = 1;
  for (std::size_t i = 0; i < factors; ++i) {
    work *= numbers[i];
    if (work > max_work)
      throw FormatError("the key's encryption asks for more than the limit of 2^24 rounds",
                        "encrypt it again with fewer rounds, unless the file is damaged");
  }
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
/// A library context that openssl.cnf does not affect. All keys share it until the process ends, because making one
/// takes milliseconds and OpenSSL 3.0 leaks a kilobyte of each.
OSSL_LIB_CTX* library() {
  static OSSL_LIB_CTX* const made = OSSL_LIB_CTX_new();
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
#endif

/// Returns the plaintext, unchecked; nothing if decryption fails, with libcrypto's errors in the queue.
std::optional<SecretBytes> decrypt(const X509_SIG& key, ByteView passphrase) {
  const X509_ALGOR* algorithm = nullptr;
  const ASN1_OCTET_STRING* sealed = nullptr;
  X509_SIG_get0(&key, &algorithm, &sealed);
  unsigned char* out = nullptr;
  int size = 0;
  const auto* password = passphrase.size() == 0 ? "" : reinterpret_cast<const char*>(passphrase.data());
  const auto password_bytes = static_cast<int>(passphrase.size());
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
  const bool done = PKCS12_pbe_crypt_ex(algorithm, password, password_bytes, ASN1_STRING_get0_data(sealed),
                                        ASN1_STRING_length(sealed), &out, &size, 0, library(), nullptr) != nullptr;
#else
  const bool done = PKCS12_pbe_crypt(algorithm, password, password_bytes, ASN1_STRING_get0_data(sealed),
                                     ASN1_STRING_length(sealed), &out, &size, 0) != nullptr;
#endif
  if (!done) return std::nullopt;
  const struct Wipe {
    unsigned char* bytes;
    int size;
    ~Wipe() { OPENSSL_clear_free(bytes, static_cast<std::size_t>(size)); }
  } wipe{out, size};
  return SecretBytes(out, out + size);
}

[[noreturn]] void throw_wrong_passphrase() {
  throw FormatError("the passphrase is wrong, or the encrypted private key is damaged");
}

[[noreturn]] void throw_not_decrypted() {
  const unsigned long first = ERR_peek_error();
  const unsigned long last = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(first);
  const std::string text = reason == nullptr ? "unknown reason" : reason;
  ERR_clear_error();
  if (ERR_GET_LIB(last) == ERR_LIB_PKCS12 && ERR_GET_REASON(last) == PKCS12_R_PKCS12_CIPHERFINAL_ERROR)
    throw_wrong_passphrase();
  throw FormatError("OpenSSL cannot decrypt the private key: " + text,
                    "encrypt it by PBES2 with AES and PBKDF2, as openssl does by default");
}

}  // namespace

SecretBytes decrypted_key(ByteView der, ByteView passphrase, std::uint64_t max_work) {
  check_work(der, max_work);
  ERR_clear_error();
  const unsigned char* in = der.data();
  const std::unique_ptr<X509_SIG, EncryptedFree> key(d2i_X509_SIG(nullptr, &in, static_cast<long>(der.size())));
  if (key == nullptr) throw_not_decrypted();
  std::optional<SecretBytes> plain = decrypt(*key, passphrase);
  if (!plain) throw_not_decrypted();
  // One in 256 wrong passphrases yields valid padding.
  if (formats::key_der_bytes(*plain) != plain->size()) throw_wrong_passphrase();
  return std::move(*plain);
}

}  // namespace polykem::cli
