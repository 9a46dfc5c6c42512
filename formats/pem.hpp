// SPDX-License-Identifier: Apache-2.0
// Text with bytes in base64 between BEGIN and END lines [RFC7468].
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/base64.hpp"

namespace polykem::formats {

/** Appends one block to `out`. */
void append_pem(SecretBytes& out, std::string_view label, ByteView bytes);

/** The label of the first BEGIN line in `text`; empty if there is none. */
std::string_view first_label(ByteView text);

/** Reads blocks line by line. */
class PemReader {
 public:
  enum class Outside { kRefused, kSkipped }; /**< what becomes of text outside of blocks */
  enum class Event { kNone, kBegin, kEnd };

  explicit PemReader(Outside outside) : outside_(outside) {}
  /** Takes a line, without its line feed. At kBegin label() is known, at kEnd bytes() too. Throws FormatError that
   * names the line. */
  Event line(std::string_view text);
  /** Throws FormatError if the text ended inside a block. */
  void finish() const;

  const std::string& label() const { return label_; }
  /** Of the block that ended; the caller may move them away. */
  SecretBytes& bytes() { return bytes_; }
  /** Lines taken so far. */
  std::size_t number() const { return number_; }

 private:
  Event inside(std::string_view text);
  Event outside(std::string_view text);

  Outside outside_;
  bool open_ = false;
  std::size_t number_ = 0;
  std::string label_;
  Base64Decoder decoder_;
  SecretBytes bytes_;
};

}  // namespace polykem::formats
