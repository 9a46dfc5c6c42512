// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes are refused with an error or read as a key in DER or PEM. What is read can be written, and reading
// that gives the same key.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common.hpp"
#include "formats/error.hpp"
#include "formats/keys.hpp"
#include "formats/pem.hpp"

using namespace polykem;
using namespace polykem::formats;

namespace {

void check_public(const PublicKey& key) {
  const PublicKey again = read_public_key(write_public_key(key.scheme, key.bytes));
  fuzz::require(again.scheme == key.scheme && again.bytes == key.bytes, "the same public key");
}

void check_private(PrivateKey key) {
  const PrivateKey again = read_private_key(write_private_key(key));
  fuzz::require(again.scheme == key.scheme && again.form == key.form, "the same set and form");
  fuzz::require(again.seed == key.seed && again.expanded == key.expanded, "the same private key");
  complete(fuzz::context().handle(), key);
  fuzz::require(key.expanded.size() == key.scheme.secret_key_bytes(), "an expanded key");
}

void check_der(ByteView der) {
  const Key key = read_key(der);
  fuzz::require(key_der_bytes(der) == der.size(), "what is read as a key is taken for one, of that size");
  if (const auto* found = std::get_if<PublicKey>(&key)) check_public(*found);
  if (const auto* found = std::get_if<PrivateKey>(&key)) check_private(*found);
}

/// A key with this beginning, followed by zeros, since FrodoKEM's keys are longer than usual inputs of a fuzzer.
void check_begin(ByteView begin) {
  constexpr std::size_t kMost = 50000;
  const std::optional<std::size_t> size = key_der_bytes(begin);
  if (!size || *size <= begin.size() || *size > kMost) return;
  SecretBytes der(begin.data(), begin.data() + begin.size());
  der.resize(*size);
  check_der(der);
}

void check_certificate(ByteView der) {
  const SecretBytes key = public_key_in_certificate(der);
  algorithm_of(key);
  if (scheme_in(key)) check_der(key);
}

/// What the program and the provider ask before they read a key, and what they read for one use.
void check_uses(ByteView der) {
  certificate_der_bytes(der);
  const bool encrypted = is_encrypted_key(der);
  for (const KeyUse use : {KeyUse::kKem, KeyUse::kSignature}) {
    try {
      const PrivateKey key = read_private_key(der, use);
      fuzz::require(!encrypted && key.scheme.is_signature() == (use == KeyUse::kSignature), "a key of that use");
    } catch (const FormatError&) {
      read_public_key(der, use);
    }
  }
}

/// Labels and contents.
std::vector<std::pair<std::string, SecretBytes>> blocks_of(ByteView text, PemReader::Style style) {
  std::vector<std::pair<std::string, SecretBytes>> out;
  PemReader reader(style);
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (reader.line(rest.substr(0, end)) == PemReader::Event::kEnd) out.emplace_back(reader.label(), reader.bytes());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  reader.finish();
  return out;
}

void check_pem(ByteView text) {
  const auto blocks = blocks_of(text, PemReader::Style::kLenient);
  SecretBytes again;
  for (const auto& [label, bytes] : blocks)
    append_pem(again, label, bytes);
  fuzz::require(blocks_of(again, PemReader::Style::kStrict) == blocks, "the same blocks after writing and reading");
  if (!blocks.empty()) fuzz::require(!first_label(text).empty(), "a label where there is a block");
  for (const auto& [label, bytes] : blocks)
    check_der(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto check : {check_der, check_begin, check_certificate, check_uses, check_pem}) {
    try {
      check(ByteView(data, size));
    } catch (const FormatError&) {
    }
  }
  return 0;
}
