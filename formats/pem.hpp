// SPDX-License-Identifier: Apache-2.0
// Text with bytes in base64 between BEGIN and END lines [RFC7468].
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/base64.hpp"

namespace polykem::formats {

/// How many characters a block with so many bytes has.
std::size_t pem_bytes(std::string_view label, std::size_t bytes);
/// Writes one block and returns the place behind it.
std::uint8_t* write_pem(std::uint8_t* out, std::string_view label, ByteView bytes);
/// Appends one block to `out`.
void append_pem(SecretBytes& out, std::string_view label, ByteView bytes);

/// The label of the first BEGIN line in `text`; empty if there is none.
std::string_view first_label(ByteView text);

/// Reads blocks line by line.
class PemReader {
 public:
  enum class Style {
    kStrict,  ///< blocks of base64 and nothing else, but for blanks at the end of lines and empty lines
    kLenient  ///< what OpenSSL 3.0 reads: text outside of blocks, blanks inside lines, one empty line before the base64
  };
  enum class Event { kNone, kBegin, kEnd };

  explicit PemReader(Style style) : style_(style) {}
  /// Takes a line, without its line feed. At kBegin label() is known, at kEnd bytes() too. Throws FormatError that
  /// names the line.
  Event line(std::string_view text);
  /// After kBegin: passes over what the block holds, which need not be base64. Its bytes() are empty at kEnd.
  void pass_over() { passed_over_ = true; }
  /// Throws FormatError if the text ended inside a block.
  void finish() const;
  /// After the end of a text without a block that the caller wanted: throws FormatError if a line looks like a BEGIN
  /// line and is none.
  void finish_without_block() const;

  const std::string& label() const { return label_; }
  /// The bytes of the block that ended; the caller may move them away.
  SecretBytes& bytes() { return bytes_; }
  /// Lines taken so far.
  std::size_t number() const { return number_; }

 private:
  Event inside(std::string_view text);
  Event outside(std::string_view text);

  void body(std::string_view text);

  Style style_;
  bool open_ = false, passed_over_ = false;
  bool at_beginning_ = true;  ///< of the text, or after a block: there a byte order mark is not text
  bool empty_line_ = false;   ///< came before the base64, of which lines have 64 characters then
  bool short_line_ = false;   ///< came after such an empty line, so that it has to be the last one
  std::size_t number_ = 0, lines_ = 0;
  std::size_t misplaced_ = 0;  ///< the first line with a BEGIN that is not at its beginning
  std::string label_;
  Base64Decoder decoder_;
  SecretBytes bytes_;
};

}  // namespace polykem::formats
