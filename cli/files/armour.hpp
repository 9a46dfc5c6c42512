// SPDX-License-Identifier: Apache-2.0
// PEM-like armour for keys, ciphertexts and secrets:
//   -----BEGIN ntruhps4096821 PUBLIC KEY-----
//   (base64, 64 characters a line)
//   -----END ntruhps4096821 PUBLIC KEY-----
// A file may hold several blocks. Encoding and decoding have no secret-dependent branch or address.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace polykem::cli {

enum class RecordKind { kPublicKey, kSecretKey, kCiphertext, kSharedSecret };

/** "public key", "secret key", "ciphertext", "shared secret". */
const char* kind_name(RecordKind kind);

/** Bytes of one record of that kind. */
std::size_t record_bytes(const Scheme& scheme, RecordKind kind);

struct ArmouredRecord {
  std::string scheme; /**< as written in the BEGIN line */
  RecordKind kind;
  SecretBytes bytes;
};

/** True if `text` starts like armour (after white space). */
bool is_armour(ByteView text);

/** Appends one block to `out`. */
void append_armour(SecretBytes& out, const std::string& scheme, RecordKind kind, ByteView bytes);

/** More than any record of any set has. */
inline constexpr std::size_t kMostArmouredBytes = std::size_t{1} << 20;

/** Decodes base64 text line by line. Padding is allowed only at the very end. */
class Base64Decoder {
 public:
  /** number: the line number, for errors. Throws CliError (bad input). */
  void line(std::string_view text, std::size_t number);
  /** The bytes of all lines. Throws CliError (bad input) if the text is incomplete. */
  SecretBytes finish(std::size_t number);

 private:
  void flush(unsigned bytes);

  SecretBytes bytes_;
  std::uint32_t word_ = 0;
  unsigned digits_ = 0;
  unsigned padding_ = 0;
  int bad_ = 0;
};

/** Reads armour line by line. Names and sizes are not looked up here. */
class ArmourReader {
 public:
  /** Takes a line, without its line feed. Returns true if a block is complete: block() returns it until the next call.
   * Throws CliError (bad input) that names the line. */
  bool line(std::string_view text);
  /** Throws CliError (bad input) if the text ended inside a block. */
  void finish() const;
  const ArmouredRecord& block() const { return block_; }

 private:
  std::size_t number_ = 0;
  std::string title_; /**< of the block that is open; empty outside */
  Base64Decoder decoder_;
  ArmouredRecord block_{};
};

}  // namespace polykem::cli
