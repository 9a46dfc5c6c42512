// SPDX-License-Identifier: Apache-2.0
#include "hpke/hybrid.hpp"

#include <cstring>

namespace polykem::hpke {
namespace {

constexpr std::size_t kLatticeSeedBytes = 64;
constexpr std::size_t kSeedBytes = 32;

}  // namespace

Hybrid::Hybrid(const Suite& suite)
    : kem_(suite.kem()),
      algorithms_(suite.algorithms()),
      group_(make_group(suite)),
      digest_(EVP_MD_CTX_new()),
      seed_(kLatticeSeedBytes + kem_.seed_bytes),
      scalar_(kem_.scalar_bytes),
      secret_(kem_.scalar_bytes) {
  if (!digest_) throw Error(POLYKEM_ERR_OUT_OF_MEMORY, "hash of HPKE");
}

Outcome Hybrid::expand(const std::uint8_t* secret_key, std::uint8_t* lattice, std::uint8_t* scalar) {
  const bool ok = EVP_DigestInit_ex2(digest_.get(), algorithms_.shake256.get(), nullptr) == 1 &&
                  EVP_DigestUpdate(digest_.get(), secret_key, kSeedBytes) == 1 &&
                  EVP_DigestFinalXOF(digest_.get(), seed_.data(), seed_.size()) == 1;
  if (!ok) return Outcome::kFailed;
  std::memcpy(lattice, seed_.data(), kLatticeSeedBytes);
  return group_->scalar(seed_.data() + kLatticeSeedBytes, scalar);
}

Outcome Hybrid::encaps(const std::uint8_t* draw, const std::uint8_t* peer, std::uint8_t* point, std::uint8_t* shared) {
  Outcome outcome = group_->scalar(draw, scalar_.data());
  if (outcome == Outcome::kDone) outcome = group_->public_point(scalar_.data(), point);
  if (outcome == Outcome::kDone) outcome = group_->shared_secret(scalar_.data(), peer, secret_.data());
  return outcome == Outcome::kDone ? combine(point, peer, shared) : outcome;
}

Outcome Hybrid::decaps(const std::uint8_t* scalar, const std::uint8_t* own, const std::uint8_t* point,
                       std::uint8_t* shared) {
  const Outcome outcome = group_->shared_secret(scalar, point, secret_.data());
  return outcome == Outcome::kDone ? combine(point, own, shared) : outcome;
}

/// C2PRICombiner with SHA3-256.
Outcome Hybrid::combine(const std::uint8_t* ephemeral, const std::uint8_t* recipient, std::uint8_t* shared) {
  EVP_MD_CTX* digest = digest_.get();
  return done_if(EVP_DigestInit_ex2(digest, algorithms_.sha3.get(), nullptr) == 1 &&
                 EVP_DigestUpdate(digest, shared, kSharedSecretBytes) == 1 &&
                 EVP_DigestUpdate(digest, secret_.data(), secret_.size()) == 1 &&
                 EVP_DigestUpdate(digest, ephemeral, kem_.point_bytes) == 1 &&
                 EVP_DigestUpdate(digest, recipient, kem_.point_bytes) == 1 &&
                 EVP_DigestUpdate(digest, kem_.label.data(), kem_.label.size()) == 1 &&
                 EVP_DigestFinal_ex(digest, shared, nullptr) == 1);
}

}  // namespace polykem::hpke
