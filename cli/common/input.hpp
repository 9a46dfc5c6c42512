// SPDX-License-Identifier: Apache-2.0
// Reading files in memory of fixed size.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace polykem::cli {

/// A file that is read once from its beginning to its end through a buffer of fixed size, which is zeroised.
class InputFile {
 public:
  /// Opens `path`; "-" is standard input. Throws CliError (io) if it cannot be read, is a directory or a device.
  explicit InputFile(const std::string& path);
  /// Reads from memory, which must stay valid; `name` stands for the path in messages.
  InputFile(ByteView memory, std::string name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// How messages name it: 'pk' in quotes, or standard input.
  const std::string& name() const { return name_; }
  /// Bytes of the whole file; 0 if that is not known beforehand, as with a pipe.
  std::uint64_t size() const { return size_; }
  /// Bytes taken so far.
  std::uint64_t taken() const { return taken_; }

  /// The next bytes, at most 64 KiB, without taking them; empty only at the end.
  ByteView peek();
  /// Takes `size` bytes. Returns how many there were; fewer only at the end.
  std::size_t read(std::uint8_t* out, std::size_t size);
  /// Takes a line, without its end; valid until the next call. False at the end. Throws CliError (bad input) if the
  /// line is longer than 64 KiB.
  bool line(std::string_view& out);

 private:
  std::size_t buffered() const { return end_ - begin_; }
  /// Fills the buffer as far as it goes. False if nothing came.
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

/// A whole text that may be gzipped ("-": standard input). Throws CliError: io if it cannot be read, bad input
/// above `limit` or if the gzip stream is damaged or cut off.
std::string read_text_maybe_gzip(const std::string& path, std::size_t limit = std::size_t{1} << 30);

}  // namespace polykem::cli
