// SPDX-License-Identifier: Apache-2.0
// The data that the kernels of one batch work on.
#pragma once

#include "core/batch.hpp"
#include "prim/cuda/warp.cuh"
#include "prim/records/cuda/items.cuh"
#include "prim/records/cuda/packed.cuh"
#include "schemes/mldsa/cuda/sets.hpp"
#include "schemes/mldsa/cuda/transform.cuh"

namespace polykem::mldsa::cuda {

using polykem::cuda::ItemWords;
using polykem::cuda::load_words;
using polykem::cuda::pack_to_shared;
using polykem::cuda::packed_field;
using polykem::cuda::Records;
using polykem::cuda::warp_lane;

/// The byte strings of the items in device memory, in the form of Strings. `offsets` begins with the offset of the
/// first item, whose string begins at `data`.
struct DeviceStrings {
  const uint8_t* data;
  const uint64_t* offsets;
  uint64_t width;  ///< the length of each string if there are no offsets
  bool shared;

  __device__ const uint8_t* at(size_t item) const {
    return data + (offsets != nullptr ? offsets[item] - offsets[0] : shared ? 0 : item * width);
  }
  __device__ uint64_t bytes(size_t item) const {
    return data == nullptr ? 0 : offsets != nullptr ? offsets[item + 1] - offsets[item] : width;
  }
};

/// The messages that are signed or verified. [FIPS204, 5.2, 5.4]
struct DeviceMessages {
  DeviceStrings strings, contexts;
  bool is_mu;  ///< the strings are mu
  bool is_digest, deterministic;
  uint32_t oid_bytes;
  uint64_t oid[Messages::kMaxOidBytes / 8];  ///< the OID of the hash, its bytes in order
};

/// The records of a batch and the intermediates of its operation, nullptr where the operation has none. The names are
/// those of stages.hpp.
struct Work {
  size_t count;
  const uint32_t* coin_seed;
  const uint8_t* coins;
  Records pk, sk, signature;
  bool one_key;  ///< all items use one key
  DeviceMessages messages;
  uint8_t *pk_out, *sk_out, *signature_out;
  int* status;
  uint32_t* a;                                   ///< A^ of each key, row by row: rows of 256 coefficients
  uint8_t* s;                                    ///< s1, s2 of each item: eta less a coefficient, a byte each
  ItemWords rho, secret_seed, k, mu, mask_seed;  ///< secret_seed is rho', mask_seed is rho''
  uint32_t* valid;                               ///< whether each signature is well-formed

  // These are for each attempt; verifying takes one for each item.
  uint8_t* mu_w1;            ///< mu and the bytes of w1
  uint32_t* challenge;       ///< c~, 16 words
  uint32_t* challenge_poly;  ///< c, 16 words of fields of two bits
  uint32_t* y;               ///< y, packed as in a signature
  int32_t* w;                ///< both parts of w, see commitment_index(); then r0 instead of the low part

  uint32_t* unsigned_items[2];  ///< the items that have no signature before a round, and before the next
  uint32_t* unsigned_counts;    ///< the number of items without a signature before each round

  template <class Set>
  __device__ const uint32_t* matrix(size_t item) const {
    return a + (one_key ? 0 : item) * (Shape<Set>::kEntries * kN);
  }
};

// tools/sass_check.py knows that what is loaded by these fields alone is public, and reads their offsets here.
static_assert(offsetof(Work, count) == 0);
static_assert(offsetof(Work, messages.strings.offsets) == 88);
static_assert(offsetof(Work, messages.contexts.offsets) == 120);
static_assert(offsetof(Work, challenge_poly) == 336);
static_assert(offsetof(Work, unsigned_items) == 360);
static_assert(offsetof(Work, unsigned_counts) == 376);

/// Returns the index of coefficient i in a row of A^ in device memory: coefficient 16 l + 4 c + j is at 64 c + 4 l + j,
/// so that lane l reads four times 16 bytes beside those of its neighbours.
__device__ __forceinline__ unsigned row_index(unsigned i) {
  return i / 4 % 4 * 64 + i / 16 * 4 + i % 4;
}
__device__ __forceinline__ void load_row(Coefficients& a, const uint32_t* row, unsigned l) {
#pragma unroll
  for (unsigned c = 0; c < 4; ++c) {
    const uint4 four = reinterpret_cast<const uint4*>(row)[16 * c + l];
    a[4 * c] = four.x, a[4 * c + 1] = four.y, a[4 * c + 2] = four.z, a[4 * c + 3] = four.w;
  }
}

}  // namespace polykem::mldsa::cuda
