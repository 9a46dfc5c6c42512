// SPDX-License-Identifier: Apache-2.0
#include "files/armour.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "common/exit_codes.hpp"
#include "formats/error.hpp"

namespace polykem::cli {
namespace {

constexpr std::array<std::pair<RecordKind, std::string_view>, 5> kLabels = {{
    {RecordKind::kPublicKey, "PUBLIC KEY"},
    {RecordKind::kSecretKey, "SECRET KEY"},
    {RecordKind::kCiphertext, "CIPHERTEXT"},
    {RecordKind::kSharedSecret, "SHARED SECRET"},
    {RecordKind::kSignature, "SIGNATURE"},
}};

std::string_view label_of(RecordKind kind) {
  for (const auto& [k, label] : kLabels) {
    if (k == kind) return label;
  }
  return {};
}

/// Splits a label such as "ntruhps4096821 PUBLIC KEY" into set and kind; nothing if it is no such label.
std::optional<NamedRecord> split_title(std::string_view title) {
  const std::size_t space = title.find(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  for (const auto& [kind, label] : kLabels) {
    if (title.substr(space + 1) == label) return NamedRecord{printable(title.substr(0, space)), kind, {}};
  }
  return std::nullopt;
}

NamedRecord parse_title(std::string_view title, std::size_t line) {
  if (std::optional<NamedRecord> found = split_title(title); found) return *found;
  throw formats::FormatError(
      fmt::format("line {}: '{}' is not the title of a polykem block", line, printable(title)),
      "polykem reads blocks that it has written, and keys between BEGIN PUBLIC KEY or BEGIN PRIVATE KEY");
}

}  // namespace

const char* kind_name(RecordKind kind) {
  switch (kind) {
    case RecordKind::kPublicKey:
      return "public key";
    case RecordKind::kSecretKey:
      return "secret key";
    case RecordKind::kCiphertext:
      return "ciphertext";
    case RecordKind::kSharedSecret:
      return "shared secret";
    case RecordKind::kSignature:
      return "signature";
  }
  return "record";
}

std::size_t record_bytes(const Scheme& scheme, RecordKind kind) {
  switch (kind) {
    case RecordKind::kPublicKey:
      return scheme.public_key_bytes();
    case RecordKind::kSecretKey:
      return scheme.secret_key_bytes();
    case RecordKind::kCiphertext:
      return scheme.ciphertext_bytes();
    case RecordKind::kSignature:
      return scheme.signature_bytes();
    case RecordKind::kSharedSecret:
      break;
  }
  return scheme.shared_secret_bytes();
}

std::string armour_label(const std::string& scheme, RecordKind kind) {
  return fmt::format("{} {}", scheme, label_of(kind));
}

bool is_armour_label(std::string_view label) {
  return split_title(label).has_value();
}

bool ArmourReader::line(std::string_view text) {
  switch (reader_.line(text)) {
    case formats::PemReader::Event::kBegin:
      record_ = parse_title(reader_.label(), reader_.number());
      break;
    case formats::PemReader::Event::kEnd:
      record_.bytes = std::move(reader_.bytes());
      return true;
    case formats::PemReader::Event::kNone:
      break;
  }
  return false;
}

}  // namespace polykem::cli
