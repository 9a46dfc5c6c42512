// SPDX-License-Identifier: Apache-2.0
// PEM-like armour for keys, ciphertexts and secrets:
//   -----BEGIN ntruhps4096821 PUBLIC KEY-----
//   (base64, 64 characters a line)
//   -----END ntruhps4096821 PUBLIC KEY-----
// A file may hold several blocks. Encoding and decoding have no secret-dependent branch or address.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/pem.hpp"

namespace polykem::cli {

enum class RecordKind { kPublicKey, kSecretKey, kCiphertext, kSharedSecret, kSignature };

/// The name of a kind of record: "public key", "secret key", "ciphertext", "shared secret" or "signature".
const char* kind_name(RecordKind kind);

/// Bytes of one record of that kind.
std::size_t record_bytes(const Scheme& scheme, RecordKind kind);

/// A record in a form that names its set.
struct NamedRecord {
  std::string scheme;  ///< the set's name, as the file spells it
  RecordKind kind;
  SecretBytes bytes;
};

/// The label of its block: "mlkem768 PUBLIC KEY".
std::string armour_label(const std::string& scheme, RecordKind kind);

/// True if blocks with that label are polykem's, of any set.
bool is_armour_label(std::string_view label);

/// Reads armour line by line. It does not check sets and sizes.
class ArmourReader {
 public:
  /// Takes a line without its line feed. Returns true at the end of a block, whose record() is then valid until the
  /// next call. Throws FormatError, which names the line.
  bool line(std::string_view text);
  /// Throws FormatError if the text ends inside a block.
  void finish() const { reader_.finish(); }
  const NamedRecord& record() const { return record_; }

 private:
  formats::PemReader reader_{formats::PemReader::Style::kStrict};
  NamedRecord record_{};
};

}  // namespace polykem::cli
