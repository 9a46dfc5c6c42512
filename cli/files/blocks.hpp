// SPDX-License-Identifier: Apache-2.0
// Files whose records say what they are: polykem's armour, and keys of the standards in PEM and DER.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>

#include "common/input.hpp"
#include "files/armour.hpp"
#include "formats/keys.hpp"

namespace polykem::cli {

enum class Encoding { kArmour, kPem, kDer, kRaw };

/** How a file is encoded whose beginning that is. A raw file passes for DER only if its first twenty bytes or so happen
 * to be tags and lengths that fit into each other. */
Encoding encoding_of(ByteView begin);

/** Reads such a file record by record. */
class BlockReader {
 public:
  /** kind: what is expected. Seeds are expanded, and private keys checked, in `context`. */
  BlockReader(InputFile& file, Encoding encoding, RecordKind kind, const Context& context)
      : file_(file), encoding_(encoding), kind_(kind), context_(context) {}
  /** Reads on to the end of a block; false at the end of the file. Throws CliError (bad input) that names the file. */
  bool next();
  /** Until the next call. A private key is its expanded form; where another kind is expected it has no bytes. */
  const NamedRecord& block() const { return block_; }

 private:
  bool next_armour();
  bool next_pem();
  bool next_der();
  void take_key(ByteView der);

  InputFile& file_;
  Encoding encoding_;
  RecordKind kind_;
  const Context& context_;
  ArmourReader armour_;
  formats::PemReader pem_{formats::PemReader::Outside::kSkipped};
  std::size_t keys_ = 0; /**< read from DER so far */
  NamedRecord block_{};
};

}  // namespace polykem::cli
