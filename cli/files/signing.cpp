// SPDX-License-Identifier: Apache-2.0
#include "files/signing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/table.hpp"
#include "kat/json_fields.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kMaxContext = 255;
constexpr std::size_t kMuBytes = 64;
constexpr std::size_t kMessageBytesAtOnce = std::size_t{16} << 20;

}  // namespace

void add_signing_options(CLI::App& app, SigningOptions& options, const char* sig_help) {
  // An empty value may come from an unset shell variable. It must not silently select the default.
  const CLI::Validator not_empty([](const std::string& value) { return value.empty() ? "is empty" : ""; }, "");
  app.add_option("messages", options.messages, "Files of messages ('-': standard input)")
      ->required()
      ->type_name("FILE");
  app.add_option("--sig", options.sig, sig_help)->check(not_empty)->type_name("FILE");
  app.add_option("-s,--scheme", options.scheme, "Signature set; needed for a raw key")->type_name("NAME");
  add_count(app, "--message-bytes", options.message_bytes,
            "The one file of messages has a message of N bytes after another");
  CLI::Option* context = app.add_option("--context", options.context,
                                        "What signer and verifier know besides the message, at most 255 bytes");
  context->type_name("TEXT");
  CLI::Option* hex = app.add_option("--context-hex", options.context_hex, "The same in hexadecimal");
  hex->excludes(context)->type_name("HEX");
  CLI::Option* prehash = app.add_option("--prehash", options.prehash,
                                        "HashML-DSA: sign the digest by this hash, sha512 or shake256 for example");
  prehash->check(not_empty)->type_name("HASH");
  app.add_flag("--mu", options.mu, "Each message is the 64 bytes of its mu, computed elsewhere with its context")
      ->excludes(context, hex, prehash);
}

std::string signature_path(const std::string& message) {
  return message + ".sig";
}

Bytes context_of(const SigningOptions& options) {
  Bytes out(options.context.begin(), options.context.end());
  try {
    if (!options.context_hex.empty()) out = parse_hex(options.context_hex);
  } catch (const CliError& e) {
    throw CliError(kExitUsage, fmt::format("--context-hex: {}", e.what()));
  }
  if (out.size() <= kMaxContext) return out;
  throw CliError(kExitUsage, fmt::format("the context has {} bytes; it has at most {}", out.size(), kMaxContext),
                 "put a digest of it in its place");
}

MessageReader::MessageReader(const SigningOptions& options) : options_(options), context_(context_of(options)) {
  if (!options.prehash.empty()) prehash_ = std::make_unique<Prehash>(options.prehash);
  if (options.message_bytes == 0) return;
  if (options.mu && options.message_bytes != kMuBytes)
    throw CliError(kExitUsage,
                   fmt::format("--message-bytes is {}, but mu has {} bytes", options.message_bytes, kMuBytes));
  if (options.messages.size() != 1)
    throw CliError(kExitUsage,
                   fmt::format("--message-bytes takes one file of messages, not {}", options.messages.size()),
                   "without it, each file is a message");
  records_ = std::make_unique<InputFile>(options.messages.front());
  if (records_->size() % options.message_bytes != 0) refuse_size(records_->size());
}

void MessageReader::refuse_size(std::uint64_t bytes) const {
  throw CliError(kExitBadInput,
                 fmt::format("{}: {} bytes, not a multiple of {}", records_->name(), with_commas(bytes),
                             with_commas(options_.message_bytes)),
                 "--message-bytes says how long each message is");
}

void MessageReader::read(MessageBatch& out, std::size_t max_messages) {
  out.bytes.clear();
  out.offsets.assign(1, 0);
  while (out.count() < max_messages && out.bytes.size() < kMessageBytesAtOnce && next(out.bytes))
    out.offsets.push_back(out.bytes.size());
}

bool MessageReader::next(Bytes& out) {
  if (records_) return next_record(out);
  if (opened_ == options_.messages.size()) return false;
  InputFile file(options_.messages[opened_++]);
  const std::size_t begin = out.size();
  read_all(file, out);
  if (options_.mu && out.size() - begin != kMuBytes)
    throw CliError(kExitBadInput,
                   fmt::format("{}: {} bytes, and mu has {}", file.name(), with_commas(out.size() - begin), kMuBytes),
                   "without --mu, messages have any length");
  return true;
}

bool MessageReader::next_record(Bytes& out) {
  if (records_->taken() == 0 && records_->peek().size() == 0)
    throw CliError(kExitBadInput, fmt::format("{}: is empty", records_->name()));
  Bytes record(options_.message_bytes);
  const std::size_t got = records_->read(record.data(), record.size());
  if (got == 0) return false;
  if (got < record.size()) refuse_size(records_->taken());
  if (prehash_) {
    prehash_->update(record);
    prehash_->finish(out);
  } else {
    out.insert(out.end(), record.begin(), record.end());
  }
  return true;
}

void MessageReader::read_all(InputFile& file, Bytes& out) {
  for (ByteView part = file.peek(); part.size() > 0; part = file.peek()) {
    Bytes taken(part.size());
    file.read(taken.data(), taken.size());
    if (prehash_) {
      prehash_->update(taken);
    } else {
      out.insert(out.end(), taken.begin(), taken.end());
    }
  }
  if (prehash_) prehash_->finish(out);
}

Messages MessageReader::signed_as(const MessageBatch& batch) const {
  Messages out(Strings::at(batch.bytes, batch.offsets), Strings::shared(context_));
  out.deterministic = options_.deterministic;
  if (options_.mu) out.kind = POLYKEM_MESSAGE_MU;
  if (!prehash_) return out;
  out.kind = POLYKEM_MESSAGE_DIGEST;
  out.digest_oid = prehash_->oid();
  return out;
}

std::string MessageReader::name(std::uint64_t number) const {
  if (records_) return fmt::format("record {} of {}", with_commas(number + 1), records_->name());
  const std::string& path = options_.messages[number];
  return path == "-" ? std::string("standard input") : fmt::format("'{}'", without_controls(path));
}

std::uint64_t MessageReader::expected() const {
  return records_ ? records_->size() / options_.message_bytes : options_.messages.size();
}

SigningKeys::SigningKeys(RecordReader& keys, std::string path, RecordKind kind)
    : keys_(keys), path_(std::move(path)), kind_(kind), mode_(keys.single() ? KeyMode::kShared : KeyMode::kPerItem) {
  if (mode_ == KeyMode::kShared) keys_.read(bytes_, 1);
}

ByteView SigningKeys::next(std::size_t count) {
  if (mode_ == KeyMode::kShared) return bytes_;
  const std::size_t got = keys_.read(bytes_, count);
  taken_ += got;
  if (got < count) refuse(taken_, "more messages");
  return bytes_;
}

void SigningKeys::finish(std::uint64_t count) {
  if (mode_ == KeyMode::kShared) return;
  const std::uint64_t all = keys_.count_all();
  if (all != count) refuse(all, fmt::format("{} messages", with_commas(count)));
}

void SigningKeys::refuse(std::uint64_t keys, const std::string& messages) const {
  throw CliError(
      kExitBadInput,
      fmt::format("'{}' holds {} {}s, and there are {}", path_, with_commas(keys), kind_name(kind_), messages),
      "give one key per message, or a single key");
}

}  // namespace polykem::cli
