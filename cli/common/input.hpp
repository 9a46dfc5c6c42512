// SPDX-License-Identifier: Apache-2.0
// Reads files through a buffer of fixed size.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace polykem::cli {

/// A file that is read once, from beginning to end. The buffer is zeroized.
class InputFile {
 public:
  /// Opens `path`; "-" is standard input. Throws CliError (io) if it cannot be read, is a directory or a device.
  explicit InputFile(const std::string& path);
  /// Reads from memory, which must stay valid. name: used in messages in place of the path.
  InputFile(ByteView memory, std::string name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The name for messages: the path in quotes, or "standard input".
  const std::string& name() const { return name_; }
  /// The size of the whole file; 0 if it is unknown, as with a pipe.
  std::uint64_t size() const { return size_; }
  /// The number of bytes taken so far.
  std::uint64_t taken() const { return taken_; }

  /// The next bytes, at most 64 KiB, without taking them. Empty only at the end.
  ByteView peek();
  /// Takes `size` bytes and returns how many there were; fewer only at the end.
  std::size_t read(std::uint8_t* out, std::size_t size);
  /// Takes a line without its line end, valid until the next call. Returns false at the end of the file. Throws
  /// CliError (bad input) if the line is longer than 64 KiB.
  bool line(std::string_view& out);

 private:
  std::size_t buffered() const { return end_ - begin_; }
  /// Fills the buffer as far as possible. Returns false if nothing was read.
  bool fill();
  std::size_t read_some(std::uint8_t* out, std::size_t size);
  void take(std::size_t bytes);

  std::string path_, name_;
  std::uint64_t size_ = 0, taken_ = 0;  ///< size_ is set while fd_ is
  int fd_ = -1;                         ///< -1: from memory_
  ByteView memory_;
  bool at_end_ = false;
  SecretBytes buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

/// Reads a whole text, plain or gzipped ("-": standard input). Throws CliError: io if it cannot be read; bad input if
/// it is longer than `limit` or the gzip stream is damaged or cut off.
std::string read_text_maybe_gzip(const std::string& path, std::size_t limit = std::size_t{1} << 30);

}  // namespace polykem::cli
