// SPDX-License-Identifier: Apache-2.0
// One Keccak state by a whole warp, where there are too few messages for one per thread: a permutation takes a quarter
// of the time that a thread takes by itself. [FIPS202]
#pragma once

#include "prim/keccak/cuda/keccak.cuh"

namespace polykem::cuda {

/// Lane x + 5 y < 25 has word (x, y) of the state; other lanes have none.
class WarpKeccak {
 public:
  __device__ __forceinline__ explicit WarpKeccak(unsigned lane) {
    const unsigned x = lane % 5, y = lane / 5 % 5;
#pragma unroll
    for (unsigned k = 0; k < 5; ++k)
      column_[k] = x + 5 * ((y + k) % 5);
    before_ = (x + 4) % 5 + 5 * y;
    after_ = (x + 1) % 5 + 5 * y;
    // After pi, (X, Y) has what was at ((X + 3 Y) mod 5, X). [FIPS202, 3.2.3]
#pragma unroll
    for (unsigned k = 0; k < 3; ++k) {
      const unsigned to = (x + k) % 5;
      row_[k] = (to + 3 * y) % 5 + 5 * to;
    }
#pragma unroll
    for (int k = 0; k < 25; ++k)
      rotation_ = lane == static_cast<unsigned>(k) ? keccak_rotation(k) : rotation_;
    first_ = lane == 0 ? ~uint64_t{0} : 0;
  }

  __device__ __forceinline__ uint64_t permuted(uint64_t a) const {
#pragma unroll 1
    for (int round = 0; round < 24; ++round) {
      uint64_t parity = a;
#pragma unroll
      for (int k = 1; k < 5; ++k)
        parity ^= from(a, column_[k]);
      a ^= from(parity, before_) ^ rotate_left(from(parity, after_), 1);
      a = (a << rotation_) | (a >> 1 >> (63 - rotation_));
      a = from(a, row_[0]) ^ (~from(a, row_[1]) & from(a, row_[2]));
      a ^= kKeccakRoundConstants[round] & first_;
    }
    return a;
  }

 private:
  __device__ __forceinline__ static uint64_t from(uint64_t word, unsigned lane) {
    return __shfl_sync(0xffffffff, word, lane);
  }

  unsigned column_[5], row_[3], before_, after_, rotation_ = 0;
  uint64_t first_;
};

}  // namespace polykem::cuda
