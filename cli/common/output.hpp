// SPDX-License-Identifier: Apache-2.0
// Writes output files: each appears whole or not at all, and a group of files appears together.
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

/// A path from the command line, and the file that it leads to.
struct ResolvedPath {
  std::string name;                             ///< as the user gave it
  std::string path;                             ///< without symbolic links
  std::optional<std::pair<dev_t, ino_t>> file;  ///< the file, if it is a regular one that exists
  bool direct;                                  ///< "-", a device or a pipe, which is written directly
};

/// Throws CliError: usage if a file exists there and force is false, io if it is a directory or cannot be examined.
/// "-", devices and pipes are always allowed.
void check_output_path(const std::string& path, bool force);

/// A group of outputs that appear together. Each file is written without a name in its folder (under a temporary name
/// if the file system has no unnamed files), flushed to the disk, and named at the end. If the program ends before
/// that, nothing is left behind. "-" is standard output, which receives its bytes at once, as devices and pipes do.
class OutputFiles {
 public:
  /// force: existing files are replaced.
  explicit OutputFiles(bool force) : force_(force) {}
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Registers a file that the command reads.
  void add_input(const std::string& path);
  /// Registers an output and returns its number.
  std::size_t add(const std::string& path, FileMode mode);
  /// Throws CliError (usage) if an output is the same file as another output or an input, by any name, or exists and
  /// force is false. Writes nothing.
  void check() const;
  /// Does the same check and opens the outputs. Also throws CliError (io) if that fails; then no file has appeared.
  void open();
  /// Sets the expected size of an output. Too low an estimate only makes check_room() less strict.
  void expect(std::size_t output, std::uint64_t bytes) { outputs_[output].expected = bytes; }
  /// Throws CliError (io) if a file system has less space than its outputs are expected to need. Call it after open().
  void check_room() const;
  /// Appends to an output. Throws CliError (io).
  void write(std::size_t output, ByteView bytes);
  /// The number of bytes written to an output so far.
  std::uint64_t written(std::size_t output) const { return outputs_[output].written; }
  /// Makes all outputs appear and survive a power cut. If it throws CliError, none has appeared, and the files that
  /// they would have replaced are back in place where the file system can exchange two files.
  void commit();

 private:
  enum class State { kHidden, kNew, kExchanged, kReplaced };
  struct Output {
    ResolvedPath target;
    FileMode mode = FileMode::kPublic;
    int fd = -1;
    State state = State::kHidden;
    std::string temporary;  ///< a name in the target's folder: of the new file or, once exchanged, of the old one
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
  std::vector<ResolvedPath> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace polykem::cli
