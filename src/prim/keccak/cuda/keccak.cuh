// SPDX-License-Identifier: Apache-2.0
// SHA3 and SHAKE on the device, one message per thread, the state in registers. Words of the state are FIPS 202's
// lanes. [FIPS202]
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/cuda/copy.cuh"
#include "prim/cuda/warp.cuh"

namespace polykem::cuda {

__constant__ constexpr uint64_t kKeccakRoundConstants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

/// Returns the rotation of word x + 5 y, 0 <= rotation < 64. [FIPS202, 3.2.2]
__host__ __device__ constexpr unsigned keccak_rotation(int lane) {
  constexpr unsigned kOffsets[25] = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                                     25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};
  return kOffsets[lane];
}

__device__ __forceinline__ uint64_t rotate_left(uint64_t x, unsigned r) {
  return r == 0 ? x : (x << r) | (x >> (64 - r));
}

/// Computes round `round` of Keccak-f[1600] in place. Every index is a constant after unrolling, so the state stays in
/// registers.
__device__ __forceinline__ void keccak_round(uint64_t (&a)[25], int round) {
  uint64_t c[5], b[25];
#pragma unroll
  for (int x = 0; x < 5; ++x)
    c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
  uint64_t r[5];
#pragma unroll
  for (int x = 0; x < 5; ++x)
    r[x] = rotate_left(c[x], 1);
#pragma unroll
  for (int x = 0; x < 5; ++x) {
#pragma unroll
    for (int y = 0; y < 5; ++y) {
      const uint64_t mixed = a[x + 5 * y] ^ c[(x + 4) % 5] ^ r[(x + 1) % 5];
      b[y + 5 * ((2 * x + 3 * y) % 5)] = rotate_left(mixed, keccak_rotation(x + 5 * y));
    }
  }
#pragma unroll
  for (int y = 0; y < 25; y += 5) {
#pragma unroll
    for (int x = 0; x < 5; ++x)
      a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
  }
  a[0] ^= kKeccakRoundConstants[round];
}

/// Computes Keccak-f[1600] in place. kUnrolled: how many rounds the compiler writes out.
template <int kUnrolled = 1>
__device__ __forceinline__ void keccak_f1600(uint64_t (&a)[25]) {
#pragma unroll kUnrolled
  for (int round = 0; round < 24; ++round)
    keccak_round(a, round);
}

/// Computes Keccak-f[1600] in place, and before round k < kCount calls beside(k), which computes what the caller needs
/// on other units meanwhile.
template <int kCount, class Beside>
__device__ __forceinline__ void keccak_f1600(uint64_t (&a)[25], Beside beside) {
#pragma unroll 1
  for (int round = 0; round < kCount; ++round) {
    beside(round);
    keccak_round(a, round);
  }
#pragma unroll 1
  for (int round = kCount; round < 24; ++round)
    keccak_round(a, round);
}

inline constexpr int kRateBytes = 136;             ///< the rate of SHA3-256 and of SHAKE256
inline constexpr int kRateWords = kRateBytes / 4;  ///< the rate in 32-bit words
/// The 32-bit words from one thread's row of `scratch` to the next. It is odd, so that 32 threads reading the same word
/// of their own rows touch 32 banks.
inline constexpr int kScratchStride = kRateWords + 1;
inline constexpr int kScratchWords = 32 * kScratchStride;  ///< shared memory of one warp, in 32-bit words

/// The end of a hashed message: the bits that tell the functions apart and the first bit of the padding. [FIPS202, 6]
enum class KeccakSuffix : uint8_t { kSha3 = 0x06, kShake = 0x1f };

/// Sets `state` to one that has absorbed `seed` and `tail`, padded for a rate of kRate bytes. `tail` is the rest of the
/// message and its suffix, up to 8 bytes.
template <int kRate, int kSeedWords>
__device__ __forceinline__ void absorb_seed(uint64_t (&state)[25], const uint32_t (&seed)[kSeedWords], uint64_t tail) {
  static_assert(kSeedWords % 2 == 0 && 4 * kSeedWords + 8 <= kRate);
#pragma unroll
  for (int j = 0; j < 25; ++j)
    state[j] = 0;
#pragma unroll
  for (int j = 0; j < kSeedWords / 2; ++j)
    state[j] = seed[2 * j] | (static_cast<uint64_t>(seed[2 * j + 1]) << 32);
  state[kSeedWords / 2] = tail;
  state[kRate / 8 - 1] ^= 0x8000000000000000;
}

/// Sets `words` to the first kWords 32-bit words of the state.
template <int kWords>
__device__ __forceinline__ void squeeze_words(uint32_t (&words)[kWords], const uint64_t (&state)[25]) {
#pragma unroll
  for (int j = 0; j < kWords; ++j)
    words[j] = static_cast<uint32_t>(state[j / 2] >> (32 * (j % 2)));
}

inline constexpr int kShake128RateBytes = 168, kSha3_512RateBytes = 72;

/// `count` records, of which a block of one warp hashes those from 32 blockIdx.x on, one in each lane. Lanes beyond the
/// last record repeat it.
template <int kStride>
struct StridedRecords {
  const uint8_t* records;
  size_t count;

  __device__ __forceinline__ const uint8_t* first() const { return records + block_again() * 32 * kStride; }
  __device__ __forceinline__ size_t left() const { return count - block_again() * 32; }
  /// Returns the address of lane m's record.
  __device__ __forceinline__ const uint8_t* operator()(unsigned m) const {
    return first() + min(size_t{m}, left() - 1) * kStride;
  }
};

/// One of the aligned words that the bytes of a record touch.
template <int kBytes>
struct RecordWord {
  uint64_t address;
  bool exists;
  __device__ __forceinline__ RecordWord(const uint8_t* record, int index) {
    const auto bytes = reinterpret_cast<uint64_t>(record);
    address = (bytes & ~uint64_t{3}) + static_cast<uint64_t>(int64_t{4} * index);
    exists = index >= 0 && index <= (static_cast<int>(bytes & 3) + kBytes - 1) / 4;
  }
  /// Begins to copy the word of a record that is `offset` bytes further on and aligned alike.
  __device__ __forceinline__ void copy(uint32_t* to, uint64_t offset = 0) const {
    if (exists) begin_copy<4>(to, reinterpret_cast<const void*>(address + offset));
  }
};

/// Begins to copy word begin + lane of lane m's record to row m of `scratch`, for each m. kBytes: the size of a record.
template <int kBytes, class Record>
__device__ __forceinline__ void begin_row_copies(uint32_t* scratch, const Record& record, int begin, unsigned lane) {
  const auto own = reinterpret_cast<uint64_t>(record(lane));
  const int index = begin + static_cast<int>(lane);
#pragma unroll 8
  for (unsigned m = 0; m < 32; ++m)
    RecordWord<kBytes>(reinterpret_cast<const uint8_t*>(__shfl_sync(0xffffffff, own, m)), index)
        .copy(scratch + m * kScratchStride + lane);
}

template <int kBytes, int kStride>
__device__ __forceinline__ void begin_row_copies(uint32_t* scratch, const StridedRecords<kStride>& record, int begin,
                                                 unsigned lane) {
  // Only kPeriod addresses are computed: the other copies have constant distances from them.
  constexpr unsigned kPeriod = kStride % 4 == 0 ? 1 : kStride % 2 == 0 ? 2 : 4;
  const int index = begin + static_cast<int>(lane);
  uint32_t* const to = scratch + lane;
  if (record.left() < 32) {
#pragma unroll 1
    for (unsigned m = 0; m < 32; ++m)
      RecordWord<kBytes>(record(m), index).copy(to + m * kScratchStride);
    return;
  }
#pragma unroll
  for (unsigned c = 0; c < kPeriod; ++c) {
    const RecordWord<kBytes> word(record.first() + c * kStride, index);
#pragma unroll
    for (unsigned m = 0; m < 32; m += kPeriod)
      word.copy(to + (c + m) * kScratchStride, uint64_t{m} * kStride);
  }
}

/// Computes SHA3-256, or the first 32 bytes of SHAKE256, of 32 messages by one warp. Each lane hashes one message and
/// gets its digest. A message is the kPrefix words of `prefix` (nullptr if there are none) and kBytes bytes of any
/// alignment in global memory, readable up to the next multiple of 4. record(m) returns the address of lane m's bytes.
/// `scratch` is kScratchWords words of shared memory of this warp.
template <int kPrefix, int kBytes, KeccakSuffix kSuffix = KeccakSuffix::kSha3, class Record>
__device__ __forceinline__ void warp_sha3_256(uint32_t (&digest)[8], const uint32_t* prefix, uint32_t* scratch,
                                              unsigned lane, Record record) {
  static_assert(kPrefix % 2 == 0);
  constexpr int kBlocks = (4 * kPrefix + kBytes) / kRateBytes + 1;
  constexpr int kLastBytes = (4 * kPrefix + kBytes) % kRateBytes;
  uint32_t* const row = scratch + lane * kScratchStride;
  // Copies the aligned words that a block touches, one more than it has, while the previous block is hashed.
  const auto fetch = [&](int block) {
    const int begin = block * kRateWords - kPrefix;
    begin_row_copies<kBytes>(scratch, record, begin, lane);
#pragma unroll
    for (int at = 32; at <= kRateWords; ++at)
      RecordWord<kBytes>(record(lane), begin + at).copy(row + at);
  };
  uint64_t state[25] = {};
#pragma unroll
  for (int j = 0; j < kPrefix / 2; ++j)
    state[j] = prefix[2 * j] | (static_cast<uint64_t>(prefix[2 * j + 1]) << 32);
  const int skip = static_cast<int>(reinterpret_cast<uint64_t>(record(lane)) & 3);
  // Puts the suffix and zeros behind the message's last bytes.
  const auto end_message = [&] {
#pragma unroll
    for (int w = kLastBytes / 4; w <= kRateWords; ++w) {
      const int used = kLastBytes + skip - 4 * w;  // the word has the message's bytes up to this one
      if (used >= 4) continue;
      const uint32_t bytes = used > 0 ? row[w] & ((1u << (8 * used)) - 1) : 0;
      row[w] = used >= 0 ? bytes | static_cast<uint32_t>(kSuffix) << (8 * used) : 0;
    }
  };
  fetch(0);
#pragma unroll 1
  for (int block = 0; block < kBlocks; ++block) {
    const bool last = block == kBlocks - 1;
    end_copies();
    __syncwarp();
    if (last) end_message();
#pragma unroll
    for (int j = 0; j < kRateWords / 2; ++j) {
      const uint32_t low = __funnelshift_r(row[2 * j], row[2 * j + 1], 8 * skip);
      const uint32_t high = __funnelshift_r(row[2 * j + 1], row[2 * j + 2], 8 * skip);
      if (2 * j >= kPrefix || block > 0) state[j] ^= low | (static_cast<uint64_t>(high) << 32);
    }
    if (last) state[16] ^= 0x8000000000000000;
    __syncwarp();
    if (!last) fetch(block + 1);
    keccak_f1600<2>(state);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    digest[2 * j] = static_cast<uint32_t>(state[j]);
    digest[2 * j + 1] = static_cast<uint32_t>(state[j] >> 32);
  }
}

inline constexpr int kScratchPieces = 9;  ///< pieces of 16 bytes of a message that a block of 136 bytes touches

/// Computes warp_sha3_256() of messages whose bytes are 16-byte aligned; kBytes is a multiple of 16, and kPrefix of 4.
/// Lane m's bytes are at records + m * stride, and the first `valid` lanes have a message. `scratch` is 32
/// kScratchPieces pieces of shared memory of this warp.
template <int kPrefix, int kBytes, KeccakSuffix kSuffix = KeccakSuffix::kSha3>
__device__ __forceinline__ void warp_sha3_256_aligned(uint32_t (&digest)[8], const uint32_t* prefix, uint4* scratch,
                                                      unsigned lane, const uint8_t* records, size_t stride,
                                                      unsigned valid) {
  static_assert(kPrefix % 4 == 0 && kBytes % 16 == 0);
  constexpr int kFirstPiece = kPrefix / 4, kEndPiece = kFirstPiece + kBytes / 16;
  constexpr int kBlocks = 16 * kEndPiece / kRateBytes + 1, kLastWords = 16 * kEndPiece % kRateBytes / 8;
  // Copies the pieces that a block touches while the previous block is hashed: eight lanes copy eight pieces of a
  // message, then each lane the last one of its own.
  const auto fetch = [&](int block) {
    const auto put = [&](unsigned m, int at) {
      const int piece = kRateBytes * block / 16 + at;
      if (m < valid && piece >= kFirstPiece && piece < kEndPiece)
        begin_copy<16>(scratch + m * kScratchPieces + at, records + m * stride + 16 * (piece - kFirstPiece));
    };
#pragma unroll
    for (unsigned m = 0; m < 32; m += 4)
      put(m + lane / 8, static_cast<int>(lane % 8));
    put(lane, 8);
  };
  uint64_t state[25] = {};
#pragma unroll
  for (int j = 0; j < kPrefix / 2; ++j)
    state[j] = prefix[2 * j] | (static_cast<uint64_t>(prefix[2 * j + 1]) << 32);
  fetch(0);
#pragma unroll 1
  for (int block = 0; block < kBlocks; ++block) {
    const bool last = block == kBlocks - 1;
    // Odd blocks begin within a piece.
    const auto* words = reinterpret_cast<const uint64_t*>(scratch + lane * kScratchPieces) + block % 2;
    end_copies();
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kRateBytes / 8; ++j) {
      if ((2 * j >= kPrefix || block > 0) && (j < kLastWords || !last)) state[j] ^= words[j];
    }
    if (last) {
      state[kLastWords] ^= static_cast<uint64_t>(kSuffix);
      state[16] ^= 0x8000000000000000;
    }
    __syncwarp();
    if (!last) fetch(block + 1);
    keccak_f1600(state);
  }
  squeeze_words(digest, state);
}

}  // namespace polykem::cuda
