// SPDX-License-Identifier: Apache-2.0
// Reads files that name the set of each record: polykem's armour, and standard keys in PEM and DER.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "common/context.hpp"
#include "common/input.hpp"
#include "files/armour.hpp"
#include "files/passphrase.hpp"
#include "formats/keys.hpp"

namespace polykem::cli {

enum class Encoding { kArmour, kPem, kDer, kRaw };

/// Returns the encoding of a file that begins with `begin`. Text may precede a key in PEM, but not armour. A raw file
/// is taken for DER only if its first twenty bytes or so happen to be matching tags and lengths.
Encoding encoding_of(ByteView begin);

/// Reads a file in armour, PEM or DER, record by record.
class NamedRecordReader {
 public:
  /// kind: the expected kind of record. context: expands seeds and checks private keys. passphrase: of encrypted
  /// private keys, needed if secret keys are expected. sets: the sets whose keys are accepted in PEM and DER.
  NamedRecordReader(InputFile& file, Encoding encoding, RecordKind kind, const Context& context, Passphrase* passphrase,
                    Sets sets);
  /// Reads the next record. Returns false at the end of the file. Throws CliError (bad input), which names the file.
  bool next();
  /// The record, valid until the next call. A private key is in expanded form; if another kind is expected, it has no
  /// bytes.
  const NamedRecord& record() const { return record_; }

 private:
  bool next_armour();
  bool next_pem();
  bool next_der();
  bool wants(std::string_view label) const;
  bool take_pem();
  /// Returns false and describes the key in passed_over_ if the certificate's key is of no wanted set.
  bool take_certificate(ByteView der);
  void take_key(ByteView der);
  void take_encrypted(ByteView der);
  /// A hint for a certificate of another key.
  const char* other_key_hint() const;

  InputFile& file_;
  Encoding encoding_;
  RecordKind kind_;
  const Context& context_;
  Passphrase* passphrase_;
  formats::KeyUse use_;
  ArmourReader armour_;
  formats::PemReader pem_{formats::PemReader::Style::kLenient};
  std::size_t keys_ = 0;     ///< keys read from DER or PEM so far
  std::string passed_over_;  ///< describes the first PEM block of an unexpected kind
  NamedRecord record_{};
};

}  // namespace polykem::cli
