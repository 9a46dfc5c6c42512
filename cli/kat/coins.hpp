// SPDX-License-Identifier: Apache-2.0
// The random inputs of known-answer tests: the generator of NIST's KAT programs, and a SHAKE128 stream.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <memory>
#include <vector>

struct evp_cipher_ctx_st;

namespace polykem::cli {

/// AES-256 CTR_DRBG without derivation function, as NIST's KAT programs use it [SP80090A, 10.2.1].
class NistDrbg {
 public:
  static constexpr std::size_t kSeedBytes = 48;
  /// seed: kSeedBytes bytes, checked. Throws CliError (bad input) for another length.
  explicit NistDrbg(ByteView seed);
  ~NistDrbg();
  NistDrbg(const NistDrbg&) = delete;
  NistDrbg& operator=(const NistDrbg&) = delete;
  /// The output of one call of randombytes(n). Two calls for a and b bytes differ from one call for a + b.
  Bytes generate(std::size_t n);

 private:
  void set_key();
  void block(std::uint8_t* out);
  void update(const std::uint8_t* data);

  std::array<std::uint8_t, 32> key_{};
  std::array<std::uint8_t, 16> counter_{};
  evp_cipher_ctx_st* cipher_;
};

/// Lengths of the randombytes calls that an operation's coins are made of, in call order. Their sum is the
/// length of its coins. Only the NIST generator needs them, because its state changes between calls.
std::vector<std::size_t> coin_calls(const Scheme& scheme, polykem_op op);

/// The first `n` bytes of SHAKE128(input) [FIPS202].
Bytes shake128(ByteView input, std::size_t n);

}  // namespace polykem::cli
