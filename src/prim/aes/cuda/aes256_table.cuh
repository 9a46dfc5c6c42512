// SPDX-License-Identifier: Apache-2.0
// AES-256 in counter mode by look-up tables in shared memory, under public keys only: addresses depend on key and
// state. Two of the tables of aes128_table.cuh; the entries of the other two are theirs, rotated by two bytes.
// [FIPS197]
#pragma once

#include "prim/aes/cuda/aes128_table.cuh"

namespace polykem::cuda {

/// The keystream of a public key, whose nonce is 0 and whose counter begins at 0, as one lane computes it. Blocks
/// differ only in their last byte, on which one column depends after a round, and one look-up of each column in the
/// next one.
class Aes256PublicStream {
 public:
  __device__ __forceinline__ Aes256PublicStream(const uint8_t* tables, uint32_t lane, const uint32_t (&key)[8])
      : lookup_(tables, lane) {
#pragma unroll
    for (int w = 0; w < 8; ++w)
      key_[w] = key[w];
    uint32_t constant = 1;
#pragma unroll
    for (int w = 8; w < 60; ++w) {
      uint32_t before = key_[w - 1];
      if (w % 8 == 0) {
        before = substituted_word(__funnelshift_r(before, before, 8)) ^ constant;
        constant = aes_times_x(constant);
      }
      if (w % 8 == 4) before = substituted_word(before);
      key_[w] = key_[w - 8] ^ before;
    }
    const uint32_t s[4] = {key_[0], key_[1], key_[2], key_[3]};
    first_ = lookup_.at<0, 0>(s[0]) ^ lookup_.at<1, 1>(s[1]) ^ rotated(lookup_.at<2, 0>(s[2])) ^ key_[4];
    const uint32_t t1 = mixed<1>(s) ^ key_[5], t2 = mixed<2>(s) ^ key_[6], t3 = mixed<3>(s) ^ key_[7];
    second_[0] = lookup_.at<1, 1>(t1) ^ rotated(lookup_.at<2, 0>(t2) ^ lookup_.at<3, 1>(t3)) ^ key_[8];
    second_[1] = lookup_.at<0, 0>(t1) ^ lookup_.at<1, 1>(t2) ^ rotated(lookup_.at<2, 0>(t3)) ^ key_[9];
    second_[2] = lookup_.at<0, 0>(t2) ^ lookup_.at<1, 1>(t3) ^ rotated(lookup_.at<3, 1>(t1)) ^ key_[10];
    second_[3] = lookup_.at<0, 0>(t3) ^ rotated(lookup_.at<2, 0>(t1) ^ lookup_.at<3, 1>(t2)) ^ key_[11];
  }

  /// Returns block `number` < 256.
  __device__ __forceinline__ uint4 block(uint32_t number) const {
    const uint32_t t0 = first_ ^ rotated(lookup_.at<3, 1>(key_[3] ^ number << 24));
    uint32_t s[4] = {second_[0] ^ lookup_.at<0, 0>(t0), second_[1] ^ rotated(lookup_.at<3, 1>(t0)),
                     second_[2] ^ rotated(lookup_.at<2, 0>(t0)), second_[3] ^ lookup_.at<1, 1>(t0)};
#pragma unroll
    for (int round = 3; round < 14; ++round) {
      const uint32_t t[4] = {mixed<0>(s), mixed<1>(s), mixed<2>(s), mixed<3>(s)};
#pragma unroll
      for (int c = 0; c < 4; ++c)
        s[c] = t[c] ^ key_[4 * round + c];
    }
    return make_uint4(substituted<0>(s) ^ key_[56], substituted<1>(s) ^ key_[57], substituted<2>(s) ^ key_[58],
                      substituted<3>(s) ^ key_[59]);
  }

 private:
  static __device__ __forceinline__ uint32_t rotated(uint32_t x) {
    return __byte_perm(x, 0, 0x1032);
  }

  /// Returns column kColumn of the state `s` after SubBytes, ShiftRows and MixColumns.
  template <int kColumn>
  __device__ __forceinline__ uint32_t mixed(const uint32_t (&s)[4]) const {
    return lookup_.at<0, 0>(s[kColumn]) ^ lookup_.at<1, 1>(s[(kColumn + 1) % 4]) ^
           rotated(lookup_.at<2, 0>(s[(kColumn + 2) % 4]) ^ lookup_.at<3, 1>(s[(kColumn + 3) % 4]));
  }
  /// Returns column kColumn of the state `s` after SubBytes and ShiftRows. The S-box's value is bytes 1 and 2 of an
  /// entry of table 0, and byte 3 of one of table 1.
  template <int kColumn>
  __device__ __forceinline__ uint32_t substituted(const uint32_t (&s)[4]) const {
    const uint32_t low = __byte_perm(lookup_.at<0, 0>(s[kColumn]), lookup_.at<1, 0>(s[(kColumn + 1) % 4]), 0x0051);
    const uint32_t high =
        __byte_perm(lookup_.at<2, 0>(s[(kColumn + 2) % 4]), lookup_.at<3, 1>(s[(kColumn + 3) % 4]), 0x7200);
    return __byte_perm(low, high, 0x7610);
  }
  __device__ __forceinline__ uint32_t substituted_word(uint32_t word) const {
    const uint32_t columns[4] = {word, word, word, word};
    return substituted<0>(columns);
  }

  const AesLookup lookup_;
  uint32_t key_[60], first_, second_[4];
};

}  // namespace polykem::cuda
