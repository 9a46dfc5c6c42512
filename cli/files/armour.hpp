// SPDX-License-Identifier: Apache-2.0
// PEM-like armour for keys, ciphertexts and secrets:
//   -----BEGIN ntruhps4096821 PUBLIC KEY-----
//   (base64, 64 characters a line)
//   -----END ntruhps4096821 PUBLIC KEY-----
// A file may hold several blocks. Encoding and decoding take no secret-dependent branch or address.
#pragma once

#include <polykem/polykem.hpp>

#include <string>
#include <vector>

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

/** All blocks of `text`. Throws CliError (bad input) naming the line. Names and sizes are not looked up here. */
std::vector<ArmouredRecord> parse_armour(ByteView text);

}  // namespace polykem::cli
