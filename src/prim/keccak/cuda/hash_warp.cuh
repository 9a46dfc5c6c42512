// SPDX-License-Identifier: Apache-2.0
// Hashes the items of a batch that is too small to fill the GPU with a thread for each: a warp hashes an item.
// [FIPS202]
#pragma once

#include "prim/cuda/warp.cuh"
#include "prim/drbg/cuda/drbg.cuh"
#include "prim/keccak/cuda/keccak_warp.cuh"
#include "prim/records/cuda/items.cuh"

namespace polykem::cuda {

/// The hashes of a warp, each over 64-bit words: word j of a short message or of a digest is in lane j.
struct WarpHashes {
  static constexpr int kWords = kRateBytes / 8, kSha3_512Words = kSha3_512RateBytes / 8;
  static constexpr uint32_t kSymWords = 4;  ///< the words of a digest, a seed or a key: 32 bytes

  const unsigned lane = warp_lane();
  const WarpKeccak keccak{lane};

  /// Returns H, or another function of the same rate, of the 32 bytes `prefix`, if there are any, and kBytes bytes of a
  /// record.
  template <int kBytes, KeccakSuffix kSuffix = KeccakSuffix::kSha3>
  __device__ __forceinline__ uint64_t record(const uint8_t* bytes, const uint8_t* prefix = nullptr) const {
    static_assert(kBytes % 8 == 0);
    const uint32_t before = prefix == nullptr ? 0 : kSymWords;
    return keccak.absorbed<kWords>(lane, before + kBytes / 8, static_cast<uint64_t>(kSuffix), [&](uint32_t at) {
      return LoadedWord(at < before ? prefix : bytes, at < before ? at : at - before);
    });
  }

  /// Returns a function of rate kRate, which `suffix` chooses, of `words` words; `words` is below kRate.
  template <int kRate>
  __device__ __forceinline__ uint64_t of(uint64_t word, uint32_t words, uint64_t suffix) const {
    return keccak.absorbed<kRate>(lane, words, suffix, [word](uint32_t) { return word; });
  }

  /// Returns a function of rate kRate of two messages of 32 bytes, one after the other.
  template <int kRate, KeccakSuffix kSuffix>
  __device__ __forceinline__ uint64_t of_two(uint64_t first, uint64_t second) const {
    const uint64_t moved = __shfl_up_sync(0xffffffff, second, kSymWords);
    return of<kRate>(lane < kSymWords ? first : moved, 2 * kSymWords, static_cast<uint64_t>(kSuffix));
  }

  __device__ __forceinline__ uint64_t load(const ItemWords& from, size_t item) const {
    const unsigned j = 2 * (lane % kSymWords);
    return from.at(static_cast<int>(j), item) | static_cast<uint64_t>(from.at(static_cast<int>(j + 1), item)) << 32;
  }
  /// Stores words `first` to `first` + 3.
  __device__ __forceinline__ void store(const ItemWords& to, size_t item, uint64_t word, unsigned first = 0) const {
    const unsigned j = lane - first;
    if (j >= kSymWords) return;
    to.at(static_cast<int>(2 * j), item) = static_cast<uint32_t>(word);
    to.at(static_cast<int>(2 * j + 1), item) = static_cast<uint32_t>(word >> 32);
  }
  __device__ __forceinline__ uint64_t load(const uint8_t* bytes) const { return load_word64(bytes, lane % kSymWords); }
  __device__ __forceinline__ void store(uint8_t* bytes, uint64_t word) const {
    if (lane < kSymWords) store_word64(bytes, lane, word);
  }

  /// Returns the random bytes of an item, kWords64 words: the caller's coins if there are any, else those of the
  /// generator.
  template <uint32_t kWords64>
  __device__ __forceinline__ uint64_t make_coins(const uint8_t* coins, const uint32_t* seed, CoinDomain domain,
                                                 size_t item) const {
    if (coins != nullptr) return load_word64(coins + item * 8 * kWords64, lane % kWords64);
    return make_coin_word(seed, domain, item, lane % kWords64);
  }
};

}  // namespace polykem::cuda
