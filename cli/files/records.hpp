// SPDX-License-Identifier: Apache-2.0
// Key, ciphertext and secret files: one or more records of one set, raw, armoured, or keys in PEM or DER. They are read
// and written in batches, so that memory does not grow with the number of records.
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
#include "files/blocks.hpp"

namespace polykem::cli {

/// The records of one file, in their order.
class RecordReader {
 public:
  /// Reads up to the first record. scheme_name: the set named by --scheme or by another file, or empty. Blocks must
  /// agree with it; raw bytes need it. context: expands and checks private keys in PEM or DER. passphrase: of
  /// encrypted private keys, without which these are refused. Throws CliError: bad input for another set or kind, a
  /// wrong size or a truncated file; usage if the set is unknown.
  RecordReader(InputFile& file, RecordKind kind, const std::string& scheme_name, const Context& context,
               Passphrase* passphrase = nullptr, Sets sets = Sets::kKems);

  const Scheme& scheme() const { return scheme_; }
  /// True if the file holds exactly one record. Call it only before the first read().
  bool single();
  /// Replaces `out` by the next `n` records and returns how many there were; fewer only at the end. Throws as above.
  std::size_t read(SecretBytes& out, std::size_t n);
  /// Reads on to the end and returns how many records the whole file holds.
  std::uint64_t count_all();
  /// About how many records the file holds, from its size; 0 if that is not known.
  std::uint64_t expected() const;

 private:
  Scheme find_scheme(const std::string& scheme_name, Sets sets);
  /// Appends up to n records that were not read before.
  std::size_t append(SecretBytes& out, std::size_t n);
  std::size_t append_raw(SecretBytes& out, std::size_t n);
  std::size_t append_blocks(SecretBytes& out, std::size_t n);
  void check_size(std::uint64_t file_bytes) const;
  void check_block() const;

  InputFile& file_;
  RecordKind kind_;
  Encoding encoding_;
  BlockReader blocks_;
  Scheme scheme_;
  std::size_t record_bytes_;
  std::uint64_t file_bytes_;  ///< of a record in the file, about
  SecretBytes ahead_;         ///< records that were read and not yet given out
  std::uint64_t count_ = 0;
};

/// Options of keygen, encaps, decaps, sign and verify.
struct FileOptions {
  CommonOptions common;
  std::string scheme;
  std::string pk, sk, ct, ss, sig;
  std::string format = "armour";  ///< or raw; of keygen also pem or der
  std::string sk_form = "seed";   ///< of private keys of ML-KEM and ML-DSA in PEM and DER: seed, expanded or both
  std::size_t count = 1;
  bool count_given = false;
};

/// Which values --format has.
enum class Formats {
  kKeys,     ///< armour, kRaw, kPem, der
  kRecords,  ///< armour, raw: ciphertexts, secrets and signatures have no standard form
};

/// Adds --format, --force, --backend, --threads, --json and --quiet.
void add_file_options(CLI::App& app, FileOptions& options, Formats formats);

/// True if the output is in PEM or DER.
bool standard_format(const FileOptions& options);

/// How many items the commands work on at once: some megabytes of records.
std::size_t items_at_once(const Scheme& scheme);

/// The output files of one command, and what it says about them.
class RecordOutputs {
 public:
  explicit RecordOutputs(const FileOptions& options);
  void add_input(const std::string& path) { out_.add_input(path); }
  /// Names a file of records and returns its number. Secret kinds get mode 0600.
  std::size_t add(const std::string& path, RecordKind kind);
  /// Throws CliError if an output cannot be written or is also an input. Call it before reading anything.
  void open();
  /// Throws CliError (io) if there is no room for that many records in each file.
  void expect(const Scheme& scheme, std::uint64_t count);
  /// Appends whole records to a file. seeds: of secret keys, for a standard format.
  void write(std::size_t file, const Scheme& scheme, ByteView bytes, ByteView seeds = {});
  /// Makes all files appear, then prints the summary or the JSON result of `command`.
  void commit(const char* command, const Scheme& scheme, std::uint64_t count, const std::string& backend);

 private:
  struct File {
    std::string path;
    RecordKind kind;
    std::uint64_t records = 0;  ///< written so far
  };
  SecretBytes key_der(const Scheme& scheme, RecordKind kind, ByteView bytes, ByteView seed) const;
  /// About the bytes of one record in a file, and not more.
  std::uint64_t file_bytes(const Scheme& scheme, RecordKind kind) const;
  void print_summary(const Json& json, const Scheme& scheme) const;
  Json result(const char* command, const Scheme& scheme, std::uint64_t count, const std::string& backend) const;

  const FileOptions& options_;
  OutputFiles out_;
  std::vector<File> files_;
  SecretBytes text_;  ///< for what write() makes, of one size from call to call: to grow it takes as long as base64
  std::size_t used_ = 0;
  bool json_file_;  ///< the JSON result is a file of the group
};

/// Throws CliError (bad input) that names the first key whose item's status is not OK. items: of one batch, empty if
/// all are well. first: the position of the batch's first key in the file `path`.
void refuse_bad_keys(const std::vector<polykem_status>& items, std::uint64_t first, KeyMode mode, RecordKind kind,
                     const std::string& path);

}  // namespace polykem::cli
