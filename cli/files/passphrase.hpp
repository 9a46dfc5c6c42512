// SPDX-License-Identifier: Apache-2.0
// Reads the passphrase of encrypted private keys from a file, a descriptor or the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <polykem/polykem.hpp>

#include <string>
#include <utility>

namespace polykem::cli {

/// The source of the passphrase; the terminal if neither is given.
struct PassphraseOptions {
  std::string file;  ///< a file whose first line it is; "-" is standard input
  std::string fd;    ///< the number of a descriptor whose next line it is
};

/// Adds --passphrase-file and --passphrase-fd.
void add_passphrase_options(CLI::App& app, PassphraseOptions& options);

/// True if the passphrase is read from standard input.
bool passphrase_from_stdin(const PassphraseOptions& options);

/// The passphrase for all keys of a command. It is zeroized.
class Passphrase {
 public:
  /// Reads it if `options` name a file or descriptor. Call it before the command opens files, which could get the
  /// number of a descriptor that is not open. Throws CliError: io if it cannot be read, bad input if it is empty or too
  /// long.
  explicit Passphrase(const PassphraseOptions& options);
  explicit Passphrase(SecretBytes bytes) : known_(true), bytes_(std::move(bytes)) {}

  /// Returns it; if it is not known yet, asks for it at the terminal, naming the file `key`. Throws CliError (usage) if
  /// there is no terminal.
  ByteView get(const std::string& key);

 private:
  bool known_ = false;
  SecretBytes bytes_;
};

}  // namespace polykem::cli
