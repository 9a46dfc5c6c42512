// SPDX-License-Identifier: Apache-2.0
#include "common/prehash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/objects.h>

#include <array>
#include <cctype>
#include <memory>
#include <new>
#include <string_view>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

/// A hash of HashML-DSA: OpenSSL's name and the digest's bytes [FIPS204, 5.4.1].
struct Hash {
  std::string_view name;
  const char* openssl;
  std::size_t bytes;
};
constexpr std::array<Hash, 12> kHashes = {{{"sha224", "SHA224", 28},
                                           {"sha256", "SHA256", 32},
                                           {"sha384", "SHA384", 48},
                                           {"sha512", "SHA512", 64},
                                           {"sha512-224", "SHA512-224", 28},
                                           {"sha512-256", "SHA512-256", 32},
                                           {"sha3-224", "SHA3-224", 28},
                                           {"sha3-256", "SHA3-256", 32},
                                           {"sha3-384", "SHA3-384", 48},
                                           {"sha3-512", "SHA3-512", 64},
                                           {"shake128", "SHAKE128", 32},
                                           {"shake256", "SHAKE256", 64}}};

/// The letters and digits of a name, in lower case.
std::string letters_and_digits(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

const Hash& hash_called(const std::string& name) {
  std::string wanted = letters_and_digits(name);
  for (int spelling = 0; spelling < 2; ++spelling) {
    for (const Hash& hash : kHashes)
      if (letters_and_digits(hash.name) == wanted) return hash;
    if (wanted.rfind("sha2", 0) == 0) wanted.erase(3, 1);  // "sha2512" is "sha512"
  }
  throw CliError(kExitUsage, fmt::format("no hash '{}'", printable(name)),
                 fmt::format("use {}", fmt::join(Prehash::names(), ", ")));
}

void digest_ok(int result) {
  if (result != 1) throw Error(POLYKEM_ERR_INTERNAL, "hash");
}

}  // namespace

std::vector<std::string> Prehash::names() {
  std::vector<std::string> out;
  for (const Hash& hash : kHashes)
    out.emplace_back(hash.name);
  return out;
}

Prehash::Prehash(const std::string& name) : state_(nullptr) {
  const Hash& found = hash_called(name);
  digest_bytes_ = found.bytes;
  hash_ = EVP_get_digestbyname(found.openssl);
  if (hash_ == nullptr) throw CliError(kExitBackend, fmt::format("this OpenSSL has no {}", found.openssl));
  const ASN1_OBJECT* identifier = OBJ_nid2obj(EVP_MD_type(hash_));
  const int length = i2d_ASN1_OBJECT(identifier, nullptr);
  if (length <= 0) throw std::bad_alloc();
  oid_.resize(static_cast<std::size_t>(length));
  std::uint8_t* end = oid_.data();
  i2d_ASN1_OBJECT(identifier, &end);
  state_ = EVP_MD_CTX_new();
  if (state_ == nullptr) throw std::bad_alloc();
  begin();
}

Prehash::~Prehash() {
  EVP_MD_CTX_free(state_);
}

void Prehash::begin() {
  digest_ok(EVP_DigestInit_ex(state_, hash_, nullptr));
}

void Prehash::update(ByteView bytes) {
  digest_ok(EVP_DigestUpdate(state_, bytes.data(), bytes.size()));
}

void Prehash::finish(Bytes& out) {
  const std::size_t before = out.size();
  out.resize(before + digest_bytes_);
  std::uint8_t* digest = out.data() + before;
  const bool extendable = (EVP_MD_flags(hash_) & EVP_MD_FLAG_XOF) != 0;
  digest_ok(extendable ? EVP_DigestFinalXOF(state_, digest, digest_bytes_)
                       : EVP_DigestFinal_ex(state_, digest, nullptr));
  begin();
}

Bytes shake256_of(ByteView first, ByteView second) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!hash) throw std::bad_alloc();
  Bytes out(64);
  digest_ok(EVP_DigestInit_ex(hash.get(), EVP_shake256(), nullptr));
  digest_ok(EVP_DigestUpdate(hash.get(), first.data(), first.size()));
  digest_ok(EVP_DigestUpdate(hash.get(), second.data(), second.size()));
  digest_ok(EVP_DigestFinalXOF(hash.get(), out.data(), out.size()));
  return out;
}

}  // namespace polykem::cli
