// SPDX-License-Identifier: Apache-2.0
// Reads and writes files of keys, ciphertexts and secrets: records of one set, raw or armoured, or keys in PEM or DER.
// This happens in batches, so that memory use does not grow with the number of records.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/context.hpp"
#include "common/input.hpp"
#include "common/json_out.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "files/armour.hpp"
#include "files/named_records.hpp"

namespace polykem::cli {

/// Reads the records of one file, in order.
class RecordReader {
 public:
  /// Reads up to the first record. scheme_name: the set that --scheme or another file names, or empty; blocks must
  /// agree with it, and raw bytes need it. context: expands and checks private keys in PEM or DER. passphrase: of
  /// encrypted private keys, which are refused without it. Throws CliError: bad input for another set or kind, a wrong
  /// size or a truncated file; usage if the set is unknown.
  RecordReader(InputFile& file, RecordKind kind, const std::string& scheme_name, const Context& context,
               Passphrase* passphrase = nullptr, Sets sets = Sets::kKems);

  const Scheme& scheme() const { return scheme_; }
  /// True if the file holds exactly one record. Call it only before the first read().
  bool single();
  /// Reads the next `n` records into `out` and returns how many there were; fewer only at the end. Throws as above.
  std::size_t read(SecretBytes& out, std::size_t n);
  /// Reads to the end and returns how many records the whole file has.
  std::uint64_t count_all();
  /// An estimate of the number of records from the file's size; 0 if that is unknown.
  std::uint64_t expected() const;

 private:
  Scheme find_scheme(const std::string& scheme_name, Sets sets);
  /// Appends up to n further records from the file.
  std::size_t append(SecretBytes& out, std::size_t n);
  std::size_t append_raw(SecretBytes& out, std::size_t n);
  std::size_t append_named(SecretBytes& out, std::size_t n);
  void check_size(std::uint64_t file_bytes) const;
  void check_record() const;

  InputFile& file_;
  RecordKind kind_;
  Encoding encoding_;
  NamedRecordReader named_;
  Scheme scheme_;
  std::size_t record_bytes_;
  std::uint64_t file_bytes_;  ///< estimated size of a record in the file
  SecretBytes ahead_;         ///< records that were read but not yet returned
  std::uint64_t count_ = 0;
};

/// Options of keygen, encaps, decaps, sign and verify.
struct FileOptions {
  CommonOptions common;
  std::string scheme;
  std::string pk, sk, ct, ss, sig;
  std::string format = "armour";  ///< "armour", "raw" or, for keygen, "pem" or "der"
  std::string sk_form = "seed";   ///< form of private keys of ML-KEM and ML-DSA in PEM and DER: seed, expanded or both
  std::size_t count = 1;
  bool count_given = false;
};

/// The values that --format accepts.
enum class Formats {
  kKeys,     ///< armour, raw, pem, der
  kRecords,  ///< armour, raw: there is no standard form of ciphertexts, secrets and signatures
};

/// Adds --format, --force, --backend, --threads, --json and --quiet.
void add_file_options(CLI::App& app, FileOptions& options, Formats formats);

/// True if the output is in PEM or DER.
bool standard_format(const FileOptions& options);

/// The number of items that a command processes at once: a few megabytes of records.
std::size_t items_at_once(const Scheme& scheme);

/// The output files of one command, and its summary of them.
class RecordOutputs {
 public:
  explicit RecordOutputs(const FileOptions& options);
  void add_input(const std::string& path) { out_.add_input(path); }
  /// Registers a file of records and returns its number. Files of secret kinds get mode 0600.
  std::size_t add(const std::string& path, RecordKind kind);
  /// Throws CliError if an output cannot be written or is also an input. Call it before reading anything.
  void open();
  /// Throws CliError (io) if there is not enough free space for that many records in each file.
  void expect(const Scheme& scheme, std::uint64_t count);
  /// Appends whole records to a file. seeds: the seeds of secret keys, for PEM and DER.
  void write(std::size_t file, const Scheme& scheme, ByteView bytes, ByteView seeds = {});
  /// Makes all files appear, then prints the summary or the JSON result of `command`.
  void commit(const char* command, const Scheme& scheme, std::uint64_t count, const std::string& backend);

 private:
  struct File {
    std::string path;
    RecordKind kind;
    std::uint64_t records = 0;  ///< records written so far
  };
  SecretBytes key_der(const Scheme& scheme, RecordKind kind, ByteView bytes, ByteView seed) const;
  /// A lower bound of the bytes of one record in a file.
  std::uint64_t file_bytes(const Scheme& scheme, RecordKind kind) const;
  void print_summary(const Json& json, const Scheme& scheme) const;
  Json result(const char* command, const Scheme& scheme, std::uint64_t count, const std::string& backend) const;

  const FileOptions& options_;
  OutputFiles out_;
  std::vector<File> files_;
  SecretBytes text_;  ///< the buffer of write(); kept, since growing it takes as long as base64
  std::size_t used_ = 0;
  bool json_file_;  ///< the JSON result is one of the files
};

/// Throws CliError (bad input) for the first key whose item failed. items: the statuses of a batch, empty if all
/// succeeded. first: the position of the batch's first key in the file `path`.
void refuse_bad_keys(const std::vector<polykem_status>& items, std::uint64_t first, KeyMode mode, RecordKind kind,
                     const std::string& path);

}  // namespace polykem::cli
