// SPDX-License-Identifier: Apache-2.0
// Key, ciphertext and secret files: one or more records of one set, raw or armoured.
#pragma once

#include <polykem/polykem.hpp>

#include <string>

#include "common/files.hpp"
#include "common/json_out.hpp"
#include "common/options.hpp"
#include "files/armour.hpp"

namespace polykem::cli {

/** The records of one file, contiguous. */
struct Records {
  Scheme scheme;
  std::size_t count;
  SecretBytes bytes;
};

/** Parses a file's content. scheme_name: what --scheme or another file says, or empty; armour must agree with it and
 * raw bytes need it. `where` names the file in errors. Throws CliError: bad input for another set or kind, a wrong
 * size or a truncated file; usage if the set is unknown. */
Records parse_records(ByteView content, RecordKind kind, const std::string& scheme_name, const std::string& where);

/** Reads and parses a file ("-": standard input). */
Records load_records(const std::string& path, RecordKind kind, const std::string& scheme_name);

/** Options of keygen, encaps and decaps. */
struct FileOptions {
  CommonOptions common;
  std::string scheme;
  std::string pk, sk, ct, ss;
  std::string format = "armour";
  std::size_t count = 1;
  bool count_given = false;
  bool force = false;
};

/** Adds --format, --force, --backend, --threads, --json and --quiet. */
void add_file_options(CLI::App& app, FileOptions& options);

/** The output files of one command, and what it says about them. */
class RecordOutputs {
 public:
  RecordOutputs(const FileOptions& options, const Scheme& scheme);
  /** Fails early, before any work, if an output cannot be written because it exists. */
  static void check_places(const FileOptions& options, const std::vector<std::string>& paths);
  /** Adds a file of `bytes` (count records). Secret kinds get mode 0600. */
  void add(const std::string& path, RecordKind kind, ByteView bytes);
  /** Writes all files, then the summary and the JSON result of `command`. */
  void commit(const char* command, std::size_t count, const std::string& backend);

 private:
  struct File {
    std::string path;
    RecordKind kind;
    SecretBytes content;
  };
  const FileOptions& options_;
  const Scheme& scheme_;
  std::vector<File> files_;
};

/** Throws CliError (bad input) that names the first item whose status is not OK. */
void refuse_bad_items(const std::vector<polykem_status>& items, RecordKind kind, const std::string& path);

}  // namespace polykem::cli
