// SPDX-License-Identifier: Apache-2.0
// The data that the kernels of one batch work on.
#pragma once

#include "prim/cuda/warp.cuh"
#include "prim/records/cuda/items.cuh"
#include "schemes/saber/cuda/sets.hpp"

namespace polykem::saber::cuda {

using polykem::cuda::DeviceExpandedKeys;
using polykem::cuda::ItemWords;
using polykem::cuda::load_words;
using polykem::cuda::Records;
using polykem::cuda::SeedArray;
using polykem::cuda::store_words;
using polykem::cuda::warp_lane;

/// The records of a batch and the intermediates of its operation, nullptr where the operation has none. The names are
/// those of stages.hpp.
struct Work {
  size_t count;
  const uint32_t* coin_seed;
  const uint8_t* coins;
  Records pk, sk, ct;
  DeviceExpandedKeys keys;
  uint8_t *pk_out, *sk_out, *ct_out, *ss_out;
  uint8_t* a;                                       ///< A of each item, kMatrixBytes each
  uint8_t* noise;                                   ///< the bytes from which s or s' is sampled, kNoiseBytes each
  ItemWords seed_a, seed_s, z, m, secret, ct_hash;  ///< 32 bytes each; secret is K
  ItemWords fail;                                   ///< one word, all ones if the ciphertext is rejected

  __device__ bool has_expanded_keys() const { return keys.data != nullptr; }
  __device__ const uint8_t* expanded_key(size_t item) const { return reinterpret_cast<const uint8_t*>(keys[item]); }
  /// These return the parts of an item's key, packed, from its expanded form or its record.
  template <class S>
  __device__ const uint8_t* hash_of(size_t item) const {
    return has_expanded_keys() ? expanded_key(item) + S::ExpandedKey::kHash : sk[item] + S::kHashOffset;
  }
  template <class S>
  __device__ const uint8_t* z_of(size_t item) const {
    return has_expanded_keys() ? expanded_key(item) + S::ExpandedKey::kZ : sk[item] + S::kZOffset;
  }
  template <class S>
  __device__ const uint8_t* s_of(size_t item) const {
    return has_expanded_keys() ? expanded_key(item) + S::ExpandedKey::kS : sk[item];
  }
  template <class S>
  __device__ const uint8_t* a_of(size_t item) const {
    return has_expanded_keys() ? expanded_key(item) : a + item * S::kMatrixBytes;
  }
  template <class S>
  __device__ const uint8_t* b_of(size_t item) const {
    return has_expanded_keys() ? expanded_key(item) + S::ExpandedKey::kB : pk[item];
  }
  /// Returns the seeds that the public keys contain.
  template <class S>
  __host__ __device__ SeedArray published_seeds() const {
    return {pk.base + S::kVectorBytes, pk.stride, 4};
  }
};

// tools/sass_check.py knows that what is loaded by these two fields alone is public, and reads their offsets here.
static_assert(offsetof(Work, count) == 0);
static_assert(offsetof(Work, keys.index) == 88);

/// Returns the array of seeds that are eight words of each item.
__host__ __device__ inline SeedArray seeds_in(const ItemWords& words) {
  return {reinterpret_cast<const uint8_t*>(words.base), 4, 4 * words.count};
}

}  // namespace polykem::saber::cuda
