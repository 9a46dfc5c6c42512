// SPDX-License-Identifier: Apache-2.0
// The inputs of sign and verify: messages of any lengths, read in batches, keys, and the options of signatures.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/input.hpp"
#include "common/prehash.hpp"
#include "files/records.hpp"

namespace polykem::cli {

/// Options of sign and verify.
struct SigningOptions : FileOptions {
  std::vector<std::string> messages;
  std::string context, context_hex, prehash;
  std::size_t message_bytes = 0;  ///< record size of one file of messages; 0: each file is a message
  bool mu = false;                ///< messages are given as mu
  bool deterministic = false;
};

/// Adds the messages, --sig, --scheme, --message-bytes, --context, --context-hex, --prehash and --mu.
void add_signing_options(CLI::App& app, SigningOptions& options, const char* sig_help);

/// The path of the signature of a message that is a file.
std::string signature_path(const std::string& message);

/// The context of all messages. Throws CliError (usage) if it is too long or not hexadecimal.
Bytes context_of(const SigningOptions& options);

/// The messages of a batch, or their digests or mu.
struct MessageBatch {
  Bytes bytes;
  std::vector<std::size_t> offsets{0};

  std::size_t count() const { return offsets.size() - 1; }
};

class MessageReader {
 public:
  /// Throws CliError: usage for contradictory options, io if a file of records cannot be read.
  explicit MessageReader(const SigningOptions& options);

  /// Reads the next messages into `out`: at most `max_messages`, and a few megabytes in all unless one is longer; none
  /// at the end. Throws CliError (io, bad input).
  void read(MessageBatch& out, std::size_t max_messages);
  /// The library's view of a batch of messages, with context and hash.
  Messages signed_as(const MessageBatch& batch) const;
  /// The name of message `number`, counted from 0: "'a.txt'" or "record 17 of 'log'".
  std::string name(std::uint64_t number) const;
  /// The number of messages; 0 if unknown.
  std::uint64_t expected() const;

 private:
  bool next(Bytes& out);
  bool next_record(Bytes& out);
  [[noreturn]] void refuse_size(std::uint64_t bytes) const;
  void read_all(InputFile& file, Bytes& out);

  const SigningOptions& options_;
  Bytes context_;
  std::unique_ptr<Prehash> prehash_;
  std::unique_ptr<InputFile> records_;
  std::size_t opened_ = 0;  ///< files opened so far, if each is a message
};

/// The keys: one for all messages, or one for each.
class SigningKeys {
 public:
  SigningKeys(RecordReader& keys, std::string path, RecordKind kind);
  KeyMode mode() const { return mode_; }
  /// The keys of the next `count` messages. Throws CliError (bad input) if there are fewer.
  ByteView next(std::size_t count);
  /// Throws CliError (bad input) if there are more keys than `count` messages.
  void finish(std::uint64_t count);

 private:
  [[noreturn]] void refuse(std::uint64_t keys, const std::string& messages) const;

  RecordReader& keys_;
  std::string path_;
  RecordKind kind_;
  KeyMode mode_;
  SecretBytes bytes_;
  std::uint64_t taken_ = 0;
};

}  // namespace polykem::cli
