// SPDX-License-Identifier: Apache-2.0
// Reading inputs and writing outputs so that a file is there whole or not at all.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace polykem::cli {

/** The whole of a file, or of standard input for "-". Throws CliError: io if it cannot be read, bad input above
 * `limit`. */
SecretBytes read_file(const std::string& path, std::size_t limit = std::size_t{4} << 30);

/** The same for text that may be gzipped. Throws CliError (bad input) if the gzip stream is damaged or cut off. */
std::string read_text_maybe_gzip(const std::string& path, std::size_t limit = std::size_t{1} << 30);

enum class FileMode {
  kPublic, /**< 0666 as the umask leaves it */
  kSecret, /**< 0600 */
};

/** A group of outputs that appear together. Each is written beside its place, flushed to the disk, then renamed.
 * "-" is standard output; devices and pipes are written directly. */
class OutputFiles {
 public:
  OutputFiles() = default;
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /** `bytes` must stay valid until commit. */
  void add(const std::string& path, ByteView bytes, FileMode mode);
  /** Throws CliError (usage) if two outputs are the same file, or one exists and force is false. Writes nothing. */
  void check(bool force) const;
  /** Checks, then writes all. Throws CliError; then none of the outputs has appeared. */
  void commit(bool force);

 private:
  struct Output {
    std::string name; /**< as the user gave it */
    std::string path; /**< behind symbolic links */
    ByteView bytes;
    FileMode mode;
    std::string temporary;
    bool direct = false;
    bool published = false;
  };
  void write_temporary(Output& output);
  void publish(Output& output, bool force);

  std::vector<Output> outputs_;
  bool done_ = false;
};

}  // namespace polykem::cli
