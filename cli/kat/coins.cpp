// SPDX-License-Identifier: Apache-2.0
#include "kat/coins.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <string_view>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kBlock = 16;

void crypto_ok(int result, const char* what) {
  if (result != 1) throw std::runtime_error(fmt::format("OpenSSL: {} failed", what));
}

/// Families whose key pair makes several calls: the length of those after the first, and how many there are.
struct SplitRule {
  std::string_view family;
  std::size_t later_call;
  std::size_t later_calls;
};
constexpr SplitRule kSplitRules[] = {
    {"ntru", 32, 1},     /* sample bytes, then the PRF key */
    {"kyber", 32, 1},    /* d, then z */
    {"saberkem", 32, 2}, /* the seed of A, that of s, then z */
};

}  // namespace

NistDrbg::NistDrbg(ByteView seed) : cipher_(EVP_CIPHER_CTX_new()) {
  if (cipher_ == nullptr) throw std::bad_alloc();
  if (seed.size() != kSeedBytes) {
    EVP_CIPHER_CTX_free(cipher_);
    throw CliError(kExitBadInput, fmt::format("the seed has {} bytes, expected {}", seed.size(), kSeedBytes));
  }
  set_key();
  update(seed.data());
}

NistDrbg::~NistDrbg() {
  EVP_CIPHER_CTX_free(cipher_);
  polykem_zeroize(key_.data(), key_.size());
  polykem_zeroize(counter_.data(), counter_.size());
}

void NistDrbg::set_key() {
  crypto_ok(EVP_EncryptInit_ex(cipher_, EVP_aes_256_ecb(), nullptr, key_.data(), nullptr), "AES-256 key");
  crypto_ok(EVP_CIPHER_CTX_set_padding(cipher_, 0), "AES-256 padding");
}

void NistDrbg::block(std::uint8_t* out) {
  for (std::size_t i = kBlock; i-- > 0;) {
    if (++counter_[i] != 0) break;
  }
  int written = 0;
  crypto_ok(EVP_EncryptUpdate(cipher_, out, &written, counter_.data(), static_cast<int>(kBlock)), "AES-256 block");
}

void NistDrbg::update(const std::uint8_t* data) {
  std::array<std::uint8_t, kSeedBytes> state{};
  for (std::size_t i = 0; i < state.size(); i += kBlock)
    block(state.data() + i);
  if (data != nullptr) {
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = static_cast<std::uint8_t>(state[i] ^ data[i]);
  }
  std::copy_n(state.begin(), key_.size(), key_.begin());
  std::copy_n(state.begin() + key_.size(), counter_.size(), counter_.begin());
  polykem_zeroize(state.data(), state.size());
  set_key();
}

Bytes NistDrbg::generate(std::size_t n) {
  Bytes out((n + kBlock - 1) / kBlock * kBlock);
  for (std::size_t i = 0; i < out.size(); i += kBlock)
    block(out.data() + i);
  out.resize(n);
  update(nullptr);
  return out;
}

std::vector<std::size_t> coin_calls(const Scheme& scheme, polykem_op op) {
  const auto& info = scheme.info();
  if (op == POLYKEM_DECAPS) return {};
  if (op == POLYKEM_ENCAPS) return {info.encaps_coin_bytes};
  const std::string_view name = info.name;
  for (const SplitRule& rule : kSplitRules) {
    const bool applies = info.family == rule.family || name.substr(0, rule.family.size()) == rule.family;
    const std::size_t later = rule.later_call * rule.later_calls;
    if (!applies || info.keygen_coin_bytes <= later) continue;
    std::vector<std::size_t> calls{info.keygen_coin_bytes - later};
    calls.insert(calls.end(), rule.later_calls, rule.later_call);
    return calls;
  }
  return {info.keygen_coin_bytes};
}

Bytes shake128(ByteView input, std::size_t n) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!hash) throw std::bad_alloc();
  Bytes out(n);
  crypto_ok(EVP_DigestInit_ex(hash.get(), EVP_shake128(), nullptr), "SHAKE128");
  crypto_ok(EVP_DigestUpdate(hash.get(), input.data(), input.size()), "SHAKE128");
  crypto_ok(EVP_DigestFinalXOF(hash.get(), out.data(), out.size()), "SHAKE128");
  return out;
}

}  // namespace polykem::cli
