// SPDX-License-Identifier: Apache-2.0
// AES-128 by look-up tables in shared memory, for public data only: addresses depend on key and state. [FIPS197]
//
// Each bank of shared memory has its own copy of the tables, so that the 32 look-ups of a warp never conflict. The
// entries of one byte in two tables, 32 copies of each, take 256 bytes. Their address is the byte that is looked up,
// shifted left by 8, plus the lane's bank; one byte permutation puts it together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace polykem::cuda {

/// Multiplies by x in GF(2^8).
constexpr uint32_t aes_times_x(uint32_t a) {
  return (a << 1) ^ ((a >> 7) * 0x11b);
}

/// Returns the table for row 0: entry a is the column that MixColumns makes of the S-box's value of a in row 0. Byte 0
/// of an entry is row 0. The table for row r has the same entries, rotated by r bytes. The inverses are powers of the
/// generator x + 1. [FIPS197, 5.1]
constexpr std::array<uint32_t, 256> aes_columns() {
  std::array<uint32_t, 256> power{}, result{};
  uint32_t a = 1;
  for (uint32_t& p : power) {
    p = a;
    a ^= aes_times_x(a);
  }
  for (size_t k = 0; k < 256; ++k) {
    const uint32_t inverse = power[(255 - k) % 255];
    uint32_t s = inverse;
    for (int turn = 1; turn < 5; ++turn)
      s ^= (inverse << turn | inverse >> (8 - turn)) & 0xff;
    s ^= 0x63;
    const uint32_t twice = aes_times_x(s);
    result[k < 255 ? power[k] : 0] = twice | s << 8 | s << 16 | (twice ^ s) << 24;
  }
  constexpr uint32_t kOfZero = 0x63, kTwice = 2 * kOfZero;
  result[0] = kTwice | kOfZero << 8 | kOfZero << 16 | (kTwice ^ kOfZero) << 24;
  return result;
}

__constant__ constexpr std::array<uint32_t, 256> kAesColumns = aes_columns();

/// Bytes of shared memory for the tables of rows 0 and 1, and for all tables; those of rows 2 and 3 follow the first
/// two.
inline constexpr uint32_t kAesPairBytes = 256 * 256, kAesTableBytes = 2 * kAesPairBytes;

/// Writes the tables of rows 0 to kRows - 1, kRows being 2 or 4. All threads of the block, whose number is a multiple
/// of 32, call it together; they need a barrier afterwards.
template <int kRows = 4>
__device__ __forceinline__ void fill_aes_tables(uint8_t* tables) {
  static_assert(kRows == 2 || kRows == 4);
  constexpr int kUnrolled = kRows == 2 ? 4 : 1;
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll kUnrolled
  for (uint32_t entry = threadIdx.x / 32; entry < 256; entry += blockDim.x / 32) {
    const uint32_t column = kAesColumns[entry];
    auto* const to = reinterpret_cast<uint32_t*>(tables + 256 * entry) + lane;
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      to[row % 2 * 32 + row / 2 * (kAesPairBytes / 4)] = __funnelshift_l(column, column, 8 * row);
  }
}

/// The tables, as one lane reads them.
class AesLookup {
 public:
  __device__ __forceinline__ AesLookup(const uint8_t* tables, uint32_t lane) : tables_(tables), bank_(4 * lane) {}

  /// Returns the entry of byte kByte of `column` in the table of row kRow.
  template <int kByte, int kRow>
  __device__ __forceinline__ uint32_t at(uint32_t column) const {
    const uint32_t offset = __byte_perm(column, bank_, 0x5504 | kByte << 4);
    return *reinterpret_cast<const uint32_t*>(tables_ + offset + kRow % 2 * 128 + kRow / 2 * kAesPairBytes);
  }

  /// Returns column kColumn of the state `s` after SubBytes, ShiftRows and MixColumns.
  template <int kColumn>
  __device__ __forceinline__ uint32_t mixed(const uint32_t (&s)[4]) const {
    return at<0, 0>(s[kColumn]) ^ at<1, 1>(s[(kColumn + 1) % 4]) ^ at<2, 2>(s[(kColumn + 2) % 4]) ^
           at<3, 3>(s[(kColumn + 3) % 4]);
  }

  /// Returns column kColumn of the state `s` after SubBytes and ShiftRows. The S-box's value is byte 0 of an entry of
  /// table 2, bytes 1 and 2 of one of table 0, and byte 3 of one of table 1.
  template <int kColumn>
  __device__ __forceinline__ uint32_t substituted(const uint32_t (&s)[4]) const {
    const uint32_t low = __byte_perm(at<0, 2>(s[kColumn]), at<1, 0>(s[(kColumn + 1) % 4]), 0x0050);
    const uint32_t high = __byte_perm(at<2, 0>(s[(kColumn + 2) % 4]), at<3, 1>(s[(kColumn + 3) % 4]), 0x7200);
    return __byte_perm(low, high, 0x7610);
  }

 private:
  const uint8_t* tables_;
  uint32_t bank_;
};

/// The round keys of a public key. [FIPS197, 5.2]
struct Aes128Key {
  uint32_t word[44];

  __device__ __forceinline__ void expand(const AesLookup& lookup, const uint32_t (&key)[4]) {
    uint32_t constant = 1;
#pragma unroll
    for (int k = 0; k < 44; ++k) {
      if (k < 4) {
        word[k] = key[k];
        continue;
      }
      uint32_t before = word[k - 1];
      if (k % 4 == 0) {
        const uint32_t rotated = __funnelshift_r(before, before, 8), columns[4] = {rotated, rotated, rotated, rotated};
        before = lookup.substituted<0>(columns) ^ constant;
        constant = aes_times_x(constant);
      }
      word[k] = word[k - 4] ^ before;
    }
  }
};

/// Two rounds on a block (i, j, 0, ...) that begins with two 16-bit numbers give the exclusive or of a part that
/// depends on i and the key and of one that depends on j and the key. Returns the first part.
__device__ __forceinline__ uint4 aes_part_of_first(const AesLookup& lookup, const Aes128Key& key, uint32_t i) {
  const uint32_t s[4] = {key.word[0] ^ i, key.word[1], key.word[2], key.word[3]};
  const uint32_t t0 = lookup.mixed<0>(s) ^ key.word[4], t3 = lookup.mixed<3>(s) ^ key.word[7];
  return make_uint4(lookup.at<0, 0>(t0) ^ lookup.at<3, 3>(t3), lookup.at<2, 2>(t3) ^ lookup.at<3, 3>(t0),
                    lookup.at<1, 1>(t3) ^ lookup.at<2, 2>(t0), lookup.at<0, 0>(t3) ^ lookup.at<1, 1>(t0));
}
/// Returns the second part of this state, which depends on j and the key. It includes the third round key.
__device__ __forceinline__ uint4 aes_part_of_second(const AesLookup& lookup, const Aes128Key& key, uint32_t j) {
  const uint32_t s[4] = {key.word[0] ^ (j << 16), key.word[1], key.word[2], key.word[3]};
  const uint32_t t1 = lookup.mixed<1>(s) ^ key.word[5], t2 = lookup.mixed<2>(s) ^ key.word[6];
  return make_uint4(lookup.at<1, 1>(t1) ^ lookup.at<2, 2>(t2) ^ key.word[8],
                    lookup.at<0, 0>(t1) ^ lookup.at<1, 1>(t2) ^ key.word[9],
                    lookup.at<0, 0>(t2) ^ lookup.at<3, 3>(t1) ^ key.word[10],
                    lookup.at<2, 2>(t1) ^ lookup.at<3, 3>(t2) ^ key.word[11]);
}

/// Computes the last eight rounds, 3 to 10, of kBlocks blocks in place.
template <int kBlocks>
__device__ __forceinline__ void aes_last_rounds(uint32_t (&s)[kBlocks][4], const AesLookup& lookup,
                                                const Aes128Key& key) {
#pragma unroll
  for (int round = 3; round <= 10; ++round) {
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      uint32_t t[4];
      if (round < 10) {
        t[0] = lookup.mixed<0>(s[b]), t[1] = lookup.mixed<1>(s[b]);
        t[2] = lookup.mixed<2>(s[b]), t[3] = lookup.mixed<3>(s[b]);
      } else {
        t[0] = lookup.substituted<0>(s[b]), t[1] = lookup.substituted<1>(s[b]);
        t[2] = lookup.substituted<2>(s[b]), t[3] = lookup.substituted<3>(s[b]);
      }
#pragma unroll
      for (int c = 0; c < 4; ++c)
        s[b][c] = t[c] ^ key.word[4 * round + c];
    }
  }
}

}  // namespace polykem::cuda
