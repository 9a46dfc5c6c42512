// SPDX-License-Identifier: Apache-2.0
// Writes outputs so that each file appears whole or not at all, and a group of files appears together.
#pragma once

#include <polykem/polykem.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace polykem::cli {

enum class FileMode {
  kPublic,  ///< 0666 as the umask leaves it
  kSecret,  ///< 0600
};

/// A path as a command names it, and the file it leads to.
struct Place {
  std::string name;                             ///< as the user gave it
  std::string path;                             ///< behind symbolic links
  std::optional<std::pair<dev_t, ino_t>> file;  ///< if it is a regular file that exists
  bool direct;                                  ///< "-", a device, a pipe: written as it is
};

/// Throws CliError: usage if a file exists there and force is false, io if it is a directory or cannot be examined.
/// Does nothing for "-", devices and pipes.
void check_place(const std::string& path, bool force);

/// A group of outputs that appear together. Each is written without a name in the folder it is meant for (under a
/// temporary name where the file system has no unnamed files), flushed to the disk and named at the end. If the program
/// ends before that, nothing is left behind. "-" is standard output; it, devices and pipes receive their bytes at once.
class OutputFiles {
 public:
  /// force: existing files are replaced.
  explicit OutputFiles(bool force) : force_(force) {}
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Names a file that the command reads.
  void add_input(const std::string& path);
  /// Names an output and returns its number.
  std::size_t add(const std::string& path, FileMode mode);
  /// Throws CliError (usage) if an output is the same file as another output or an input, by any name, or exists and
  /// force is false. Writes nothing.
  void check() const;
  /// Checks, and prepares the outputs for writing. Also throws CliError (io) if that fails; then nothing has appeared.
  void open();
  /// Says how many bytes an output will have, about and not more.
  void expect(std::size_t output, std::uint64_t bytes) { outputs_[output].expected = bytes; }
  /// Throws CliError (io) if a file system has less room than its outputs are expected to need. Call it after open().
  void check_room() const;
  /// Appends to an output. Throws CliError (io).
  void write(std::size_t output, ByteView bytes);
  /// Bytes written to it so far.
  std::uint64_t written(std::size_t output) const { return outputs_[output].written; }
  /// Makes all outputs appear and survive a power cut. Throws CliError; then none has appeared, and what they would
  /// have replaced is back in its place wherever the file system can exchange two files.
  void commit();

 private:
  enum class State { kHidden, kNew, kExchanged, kReplaced };
  struct Output {
    Place place;
    FileMode mode = FileMode::kPublic;
    int fd = -1;
    State state = State::kHidden;
    std::string temporary;  ///< a name beside the place: of the new file, or when exchanged of the old one
    std::uint64_t written = 0;
    std::uint64_t expected = 0;  ///< 0: unknown
  };
  [[noreturn]] void throw_failed(const Output& output) const;
  void create(Output& output);
  void publish(Output& output);
  void replace(Output& output);
  void undo(Output& output);
  static void remove_temporary(Output& output);
  void sync_folders() const;

  bool force_;
  std::vector<Place> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace polykem::cli
