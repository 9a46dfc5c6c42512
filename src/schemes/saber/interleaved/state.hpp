// SPDX-License-Identifier: Apache-2.0
// Interleaved items, one per lane, with their records and keys.
#pragma once

#include "core/arena.hpp"
#include "core/round.hpp"
#include "schemes/fo_transform.hpp"
#include "schemes/records.hpp"
#include "schemes/saber/interleaved/poly.hpp"
#include "schemes/saber/types.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

/// Returns `bytes` rounded up to whole cache lines, so that each row of that length begins where a line does.
constexpr size_t whole_lines(size_t bytes) {
  return rounded_up(bytes, 64);
}

/// The working memory of a state.
template <SaberParams P>
struct alignas(64) Workspace {
  alignas(64) uint8_t matrix[kLanes][whole_lines(P.matrix_bytes())];
  alignas(64) uint8_t noise[kLanes][whole_lines(P.noise_bytes())];
  InterleavedProducts<P.l> product;
  alignas(64) uint16_t words[P.l * kSplitRows];  ///< a row of the matrix, split, of the key that all items share
  LanePoly s[P.l];                               ///< s or s'
  LanePoly u[P.l + 1];                           ///< A^T s in keygen, otherwise A s', v' or b', v
  LanePoly w, cm;
  Scratch scratch;
  uint8_t pk_hash[kLanes][kSymBytes];
  uint8_t reencrypted_ct[kLanes][P.ciphertext_bytes()];
  fo::Secrets<kLanes, kKeygenCoinBytes> fo;
};

/// The polynomials to multiply by: A^T of a new key; A and then b of the items' keys; or s of the items' keys.
enum class Factors { kOwnMatrix, kMatrix, kSecret };

template <SaberParams P>
struct State : Records<P, PublicKey<P.l>, SecretKey<P.l>> {
  static constexpr size_t kItemsPerVector = kLanes, kItems = kLanes;
  static size_t workspace_bytes(size_t) { return Arena::bytes<Workspace<P>>(1); }

  State(const Batch& batch, std::byte* workspace)
      : State::Records(batch), count(batch.count), work(*Arena(workspace).take<Workspace<P>>(1)) {}

  const size_t count;
  Workspace<P>& work;

  /// True if all items use one key, which is expanded.
  bool one_key() const { return this->io.shared_key && this->expanded(); }

  auto& fo() { return work.fo; }
  const uint8_t* pk_hash(size_t l) const {
    if (this->expanded()) return this->expanded_public(l).hash;
    return this->decapsulates() ? this->sk_in(P.hash_offset()).at(l) : work.pk_hash[l];
  }
  const uint8_t* z(size_t l) const {
    return this->expanded() ? this->expanded_secret(l).z : this->sk_in(P.z_offset()).at(l);
  }
  ByteRows own_hashes() { return rows_of(work.pk_hash); }

  LanePoly* s() { return work.s; }
  LanePoly* u() { return work.u; }
  LanePoly& cm() { return work.cm; }
  ByteRows noise() { return rows_of(work.noise); }
  ByteRows reencrypted_ct() { return rows_of(work.reencrypted_ct); }
  Factors own_matrix() const { return Factors::kOwnMatrix; }
  Factors matrix() const { return Factors::kMatrix; }
  Factors secret() const { return Factors::kSecret; }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
