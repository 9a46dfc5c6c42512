// SPDX-License-Identifier: Apache-2.0
// Files whose records say what they are: polykem's armour, and keys of the standards in PEM and DER.
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

/// How a file is encoded whose beginning that is. Text may come before a key in PEM, not before armour. A raw file
/// passes for DER only if its first twenty bytes or so happen to be tags and lengths that fit into each other.
Encoding encoding_of(ByteView begin);

/// Reads such a file record by record.
class BlockReader {
 public:
  /// kind: what is expected. Seeds are expanded, and private keys checked, in `context`. passphrase: of encrypted
  /// private keys; needed where secret keys are expected. sets: whose keys in PEM and DER are wanted.
  BlockReader(InputFile& file, Encoding encoding, RecordKind kind, const Context& context, Passphrase* passphrase,
              Sets sets);
  /// Reads on to the end of a block; false at the end of the file. Throws CliError (bad input) that names the file.
  bool next();
  /// Until the next call. A private key is its expanded form; where another kind is expected it has no bytes.
  const NamedRecord& block() const { return block_; }

 private:
  bool next_armour();
  bool next_pem();
  bool next_der();
  bool wants(std::string_view label) const;
  bool take_pem();
  /// Returns false, with what it is in passed_over_, if the certificate's key is none of these.
  bool take_certificate(ByteView der);
  void take_key(ByteView der);
  void take_encrypted(ByteView der);
  /// What to do about a certificate of another key.
  const char* other_key_hint() const;

  InputFile& file_;
  Encoding encoding_;
  RecordKind kind_;
  const Context& context_;
  Passphrase* passphrase_;
  formats::KeyUse use_;
  ArmourReader armour_;
  formats::PemReader pem_{formats::PemReader::Style::kLenient};
  std::size_t keys_ = 0;     ///< read from DER or PEM so far
  std::string passed_over_;  ///< the first block in PEM that is not what is expected
  NamedRecord block_{};
};

}  // namespace polykem::cli
