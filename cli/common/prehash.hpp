// SPDX-License-Identifier: Apache-2.0
// The hashes of HashML-DSA [FIPS204, 5.4.1].
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <vector>

struct evp_md_ctx_st;
struct evp_md_st;

namespace polykem::cli {

class Prehash {
 public:
  /// By any spelling: "sha512", "SHA2-512". Throws CliError (usage) if there is no such hash.
  explicit Prehash(const std::string& name);
  ~Prehash();
  Prehash(const Prehash&) = delete;
  Prehash& operator=(const Prehash&) = delete;

  /// The names of all.
  static std::vector<std::string> names();

  /// The object identifier in DER.
  const Bytes& oid() const { return oid_; }
  void update(ByteView bytes);
  /// Appends the digest of what was passed to update() since the last call.
  void finish(Bytes& out);

 private:
  void begin();

  const evp_md_st* hash_ = nullptr;
  std::size_t digest_bytes_ = 0;
  evp_md_ctx_st* state_;
  Bytes oid_;
};

/// SHAKE256 of one text after another, 64 bytes [FIPS204, 3.7: H].
Bytes shake256_of(ByteView first, ByteView second);

}  // namespace polykem::cli
