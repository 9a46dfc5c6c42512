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
  /// Finds a hash by any spelling, such as "sha512" or "SHA2-512". Throws CliError (usage) if there is none.
  explicit Prehash(const std::string& name);
  ~Prehash();
  Prehash(const Prehash&) = delete;
  Prehash& operator=(const Prehash&) = delete;

  /// The names of all hashes.
  static std::vector<std::string> names();

  /// The hash's object identifier in DER.
  const Bytes& oid() const { return oid_; }
  void update(ByteView bytes);
  /// Appends the digest of the data passed to update() since the last call.
  void finish(Bytes& out);

 private:
  void begin();

  const evp_md_st* hash_ = nullptr;
  std::size_t digest_bytes_ = 0;
  evp_md_ctx_st* state_;
  Bytes oid_;
};

/// SHAKE256 of concatenated texts, 64 bytes [FIPS204, 3.7: H].
Bytes shake256_of(ByteView first, ByteView second);

}  // namespace polykem::cli
