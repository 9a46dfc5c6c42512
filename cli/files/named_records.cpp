// SPDX-License-Identifier: Apache-2.0
#include "files/named_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/exit_codes.hpp"
#include "files/encrypted_key.hpp"
#include "formats/error.hpp"

namespace polykem::cli {
namespace {

using formats::FormatError;

constexpr std::string_view kCertificateLabel = "CERTIFICATE";

constexpr const char* kNoKemKey =
    "ask the certificate's owner for a public key of ML-KEM or FrodoKEM; 'polykem keygen --scheme mlkem768 --format "
    "pem' makes a key pair";
constexpr const char* kNoSignatureKey = "ask the certificate's owner for a public key of ML-DSA";

bool is_private_label(std::string_view label) {
  return label == formats::kPrivateKeyLabel || label == formats::kEncryptedLabel;
}

bool is_certificate_label(std::string_view label) {
  return label == kCertificateLabel || label == "X509 CERTIFICATE";
}

/// The part of `begin` before the first byte that cannot be text. A raw secret key soon has such a byte.
ByteView text_of(ByteView begin) {
  const std::uint8_t* end = std::find_if(begin.data(), begin.data() + begin.size(), [](std::uint8_t c) {
    return (c < ' ' && (c < '\t' || c > '\r')) || c == 0x7F;
  });
  return {begin.data(), static_cast<std::size_t>(end - begin.data())};
}

/// Describes a block, for the message that a file holds no key.
std::string block_description(std::string_view label) {
  if (label == formats::kPublicKeyLabel) return "a public key";
  if (label == formats::kPrivateKeyLabel) return "a secret key";
  if (label == formats::kEncryptedLabel) return "an encrypted private key";
  return is_certificate_label(label) ? "a certificate" : fmt::format("'{}'", printable(label));
}

}  // namespace

Encoding encoding_of(ByteView begin) {
  const ByteView text = text_of(begin);
  const std::string_view characters(reinterpret_cast<const char*>(text.data()), text.size());
  const std::string_view label = formats::first_label(text);
  if (is_armour_label(label)) return Encoding::kArmour;
  if (!label.empty() || characters.find("-----BEGIN ") != std::string_view::npos) return Encoding::kPem;
  return formats::key_der_bytes(begin) || formats::certificate_der_bytes(begin) ? Encoding::kDer : Encoding::kRaw;
}

NamedRecordReader::NamedRecordReader(InputFile& file, Encoding encoding, RecordKind kind, const Context& context,
                                     Passphrase* passphrase, Sets sets)
    : file_(file),
      encoding_(encoding),
      kind_(kind),
      context_(context),
      passphrase_(passphrase),
      use_(sets == Sets::kKems         ? formats::KeyUse::kKem
           : sets == Sets::kSignatures ? formats::KeyUse::kSignature
                                       : formats::KeyUse::kAny) {}

const char* NamedRecordReader::other_key_hint() const {
  return use_ == formats::KeyUse::kSignature ? kNoSignatureKey : kNoKemKey;
}

bool NamedRecordReader::next() {
  try {
    if (encoding_ == Encoding::kArmour) return next_armour();
    return encoding_ == Encoding::kPem ? next_pem() : next_der();
  } catch (const FormatError& e) {
    throw CliError(kExitBadInput, fmt::format("{}: {}", file_.name(), e.what()), e.hint());
  }
}

bool NamedRecordReader::next_armour() {
  std::string_view line;
  while (file_.line(line)) {
    if (!armour_.line(line)) continue;
    record_ = armour_.record();
    return true;
  }
  armour_.finish();
  return false;
}

bool NamedRecordReader::wants(std::string_view label) const {
  if (kind_ == RecordKind::kSecretKey) return is_private_label(label);
  return kind_ == RecordKind::kPublicKey && (label == formats::kPublicKeyLabel || is_certificate_label(label));
}

bool NamedRecordReader::next_pem() {
  std::string_view line;
  while (file_.line(line)) {
    const formats::PemReader::Event event = pem_.line(line);
    if (event == formats::PemReader::Event::kNone) continue;
    try {
      if (event == formats::PemReader::Event::kBegin) {
        if (is_armour_label(pem_.label())) throw FormatError("a block in polykem's own format among keys in PEM");
        if (wants(pem_.label())) continue;
        pem_.pass_over();
        if (passed_over_.empty()) passed_over_ = block_description(pem_.label());
      } else if (wants(pem_.label()) && take_pem()) {
        ++keys_;
        return true;
      }
    } catch (const FormatError& e) {
      throw FormatError(fmt::format("line {}: {}", pem_.number(), e.what()), e.hint());
    }
  }
  pem_.finish();
  if (keys_ > 0) return false;
  pem_.finish_without_block();
  if (passed_over_.empty()) return false;
  throw FormatError(
      fmt::format("holds {}, expected a {}", passed_over_, kind_name(kind_)),
      kind_ == RecordKind::kPublicKey && passed_over_.find("certificate") != std::string::npos ? other_key_hint() : "");
}

bool NamedRecordReader::take_pem() {
  if (is_certificate_label(pem_.label())) return take_certificate(pem_.bytes());
  take_key(pem_.bytes());
  if ((pem_.label() == formats::kPublicKeyLabel) == (record_.kind == RecordKind::kPublicKey)) return true;
  throw FormatError(fmt::format("between BEGIN and END {} is a {}", pem_.label(), kind_name(record_.kind)));
}

bool NamedRecordReader::take_certificate(ByteView der) {
  const SecretBytes key = formats::public_key_in_certificate(der);
  if (formats::scheme_in(key, use_)) {
    take_key(key);
    return true;
  }
  if (passed_over_.empty())
    passed_over_ = fmt::format("a certificate whose key is of algorithm {}", formats::algorithm_of(key));
  return false;
}

bool NamedRecordReader::next_der() {
  const ByteView begin = file_.peek();
  if (begin.size() == 0) return false;
  ++keys_;
  const bool certificate = kind_ == RecordKind::kPublicKey && formats::certificate_der_bytes(begin);
  const std::optional<std::size_t> size =
      certificate ? formats::certificate_der_bytes(begin) : formats::key_der_bytes(begin);
  if (!size && formats::certificate_der_bytes(begin))
    throw FormatError(fmt::format("holds a certificate, expected a {}", kind_name(kind_)));
  if (!size) throw FormatError(fmt::format("the bytes after key {} are not a key in DER", keys_ - 1));
  if (*size > formats::kMaxBytes)
    throw FormatError(fmt::format("key {} is longer than any key that polykem knows", keys_));
  SecretBytes der(*size);
  const std::size_t got = file_.read(der.data(), der.size());
  if (got < *size) {
    throw FormatError(fmt::format("key {} is cut off: {} of {} bytes are there", keys_, got, *size));
  }
  try {
    if (!certificate) {
      take_key(der);
    } else if (!take_certificate(der)) {
      throw FormatError("holds " + passed_over_ + ", expected a public key", other_key_hint());
    }
  } catch (const FormatError& e) {
    throw FormatError(fmt::format("key {}: {}", keys_, e.what()), e.hint());
  }
  return true;
}

void NamedRecordReader::take_encrypted(ByteView der) {
  if (kind_ != RecordKind::kSecretKey || passphrase_ == nullptr)
    throw FormatError(fmt::format("an encrypted private key, expected a {}", kind_name(kind_)));
  const SecretBytes plain = decrypted_key(der, passphrase_->get(file_.name()));
  if (formats::is_encrypted_key(plain)) throw FormatError("the encrypted private key holds another encrypted key");
  take_key(plain);
}

void NamedRecordReader::take_key(ByteView der) {
  if (formats::is_encrypted_key(der)) return take_encrypted(der);
  formats::Key key = formats::read_key(der, use_);
  if (auto* found = std::get_if<formats::PublicKey>(&key)) {
    record_ = {found->scheme.name(), RecordKind::kPublicKey, SecretBytes(found->bytes.begin(), found->bytes.end())};
    return;
  }
  auto& found = std::get<formats::PrivateKey>(key);
  if (kind_ == RecordKind::kSecretKey) formats::complete(context_.handle(), found);
  record_ = {found.scheme.name(), RecordKind::kSecretKey, std::move(found.expanded)};
}

}  // namespace polykem::cli
