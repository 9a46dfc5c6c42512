// SPDX-License-Identifier: Apache-2.0
#include "files/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/exit_codes.hpp"
#include "formats/error.hpp"

namespace polykem::cli {
namespace {

using formats::FormatError;

bool is_standard_label(std::string_view label) {
  return label == formats::kPublicKeyLabel || label == formats::kPrivateKeyLabel || label == formats::kEncryptedLabel;
}

bool starts_with_a_block(ByteView begin) {
  std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.substr(0, 11) == "-----BEGIN ";
}

void check_label(const std::string& label) {
  if (is_standard_label(label)) return;
  throw FormatError(fmt::format("'{}' where BEGIN PUBLIC KEY or BEGIN PRIVATE KEY belongs", printable(label)),
                    "give it a file of keys alone");
}

}  // namespace

Encoding encoding_of(ByteView begin) {
  if (is_standard_label(formats::first_label(begin))) return Encoding::kPem;  // text may come before the key
  if (starts_with_a_block(begin)) return Encoding::kArmour;
  return formats::key_der_bytes(begin) ? Encoding::kDer : Encoding::kRaw;
}

bool BlockReader::next() {
  try {
    if (encoding_ == Encoding::kArmour) return next_armour();
    return encoding_ == Encoding::kPem ? next_pem() : next_der();
  } catch (const FormatError& e) {
    throw CliError(kExitBadInput, fmt::format("{}: {}", file_.name(), e.what()), e.hint());
  }
}

bool BlockReader::next_armour() {
  std::string_view line;
  while (file_.line(line)) {
    if (!armour_.line(line)) continue;
    block_ = armour_.block();
    return true;
  }
  armour_.finish();
  return false;
}

bool BlockReader::next_pem() {
  std::string_view line;
  while (file_.line(line)) {
    const formats::PemReader::Event event = pem_.line(line);
    if (event == formats::PemReader::Event::kNone) continue;
    try {
      if (event == formats::PemReader::Event::kBegin) {
        check_label(pem_.label());
        continue;
      }
      take_key(pem_.bytes());
      const bool labelled_public = pem_.label() == formats::kPublicKeyLabel;
      if (labelled_public == (block_.kind == RecordKind::kPublicKey)) return true;
      throw FormatError(fmt::format("between BEGIN and END {} is a {}", pem_.label(), kind_name(block_.kind)));
    } catch (const FormatError& e) {
      throw FormatError(fmt::format("line {}: {}", pem_.number(), e.what()), e.hint());
    }
  }
  pem_.finish();
  return false;
}

bool BlockReader::next_der() {
  const ByteView begin = file_.peek();
  if (begin.size() == 0) return false;
  ++keys_;
  const std::optional<std::size_t> size = formats::key_der_bytes(begin);
  if (!size) throw FormatError(fmt::format("what follows key {} is no key in DER", keys_ - 1));
  if (*size > formats::kMostBytes) throw FormatError(fmt::format("key {} is longer than any key", keys_));
  SecretBytes der(*size);
  const std::size_t got = file_.read(der.data(), der.size());
  if (got < *size) {
    throw FormatError(fmt::format("key {} is cut off: {} of {} bytes are there", keys_, got, *size));
  }
  try {
    take_key(der);
  } catch (const FormatError& e) {
    throw FormatError(fmt::format("key {}: {}", keys_, e.what()), e.hint());
  }
  return true;
}

void BlockReader::take_key(ByteView der) {
  formats::Key key = formats::read_key(der);
  if (auto* found = std::get_if<formats::PublicKey>(&key)) {
    block_ = {found->scheme.name(), RecordKind::kPublicKey, SecretBytes(found->bytes.begin(), found->bytes.end())};
    return;
  }
  auto& found = std::get<formats::PrivateKey>(key);
  if (kind_ == RecordKind::kSecretKey) formats::complete(context_.handle(), found);
  block_ = {found.scheme.name(), RecordKind::kSecretKey, std::move(found.expanded)};
}

}  // namespace polykem::cli
