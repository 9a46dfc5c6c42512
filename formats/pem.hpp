// SPDX-License-Identifier: Apache-2.0
// PEM: base64 between BEGIN and END lines [RFC7468].
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/base64.hpp"

namespace polykem::formats {

/// The number of characters in a block of `bytes` bytes.
std::size_t pem_bytes(std::string_view label, std::size_t bytes);
/// Writes one block and returns its end.
std::uint8_t* write_pem(std::uint8_t* out, std::string_view label, ByteView bytes);
/// Appends one block to `out`.
void append_pem(SecretBytes& out, std::string_view label, ByteView bytes);

/// The label of the first BEGIN line in `text`; empty if there is none.
std::string_view first_label(ByteView text);

/// Reads blocks line by line.
class PemReader {
 public:
  enum class Style {
    kStrict,  ///< only blocks of base64, empty lines, and blanks at the end of lines
    kLenient  ///< as OpenSSL 3.0 reads it: also text outside of blocks, blanks in lines, one empty line before the
              ///< base64
  };
  enum class Event { kNone, kBegin, kEnd };

  explicit PemReader(Style style) : style_(style) {}
  /// Takes a line without its line feed. label() is valid from kBegin on, bytes() at kEnd. Throws FormatError, which
  /// names the line.
  Event line(std::string_view text);
  /// After kBegin: skips the contents of the block, which need not be base64. bytes() is then empty at kEnd.
  void pass_over() { passed_over_ = true; }
  /// Throws FormatError if the text ended inside a block.
  void finish() const;
  /// Call it if the text had no block that the caller wanted. Throws FormatError if a line looks like a BEGIN line but
  /// is not one.
  void finish_without_block() const;

  const std::string& label() const { return label_; }
  /// The bytes of the block that ended. The caller may move them.
  SecretBytes& bytes() { return bytes_; }
  /// The number of lines taken so far.
  std::size_t number() const { return number_; }

 private:
  Event inside(std::string_view text);
  Event outside(std::string_view text);

  void body(std::string_view text);

  Style style_;
  bool open_ = false, passed_over_ = false;
  bool at_beginning_ = true;  ///< of the text, or after a block: a byte order mark there is skipped
  bool empty_line_ = false;   ///< an empty line came before the base64, whose lines must then have 64 characters
  bool short_line_ = false;   ///< a shorter line came after such an empty line; it must be the last one
  std::size_t number_ = 0, lines_ = 0;
  std::size_t misplaced_ = 0;  ///< the first line with a BEGIN that is not at its beginning
  std::string label_;
  Base64Decoder decoder_;
  SecretBytes bytes_;
};

}  // namespace polykem::formats
