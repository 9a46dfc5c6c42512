// SPDX-License-Identifier: Apache-2.0
// The hashes of one item. The Keccak states of its matrix or its noise lie side by side in registers; beside those of
// the matrix are the states of the long hashes that need nothing but the item's inputs.
#pragma once

#include "core/secure.hpp"
#include "prim/keccak/lanes/single.hpp"
#include "prim/keccak/lanes/states.hpp"
#include "prim/ntt/lanes/products.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

using polykem::keccak::Blocks;
using polykem::keccak::kStateWords;
using polykem::keccak::States;
using polykem::keccak::with_single_state;
using simd::V64;

inline constexpr size_t kStates = States::kCount;
inline constexpr size_t kXofWords = 21, kPrfWords = 17;  ///< words in a block of SHAKE128; of SHAKE256 and SHA3-256
inline constexpr size_t kXofBlocks = 3;                  ///< blocks that yield 256 coefficients with probability 0.993
inline constexpr size_t kAcceptedWords = kN + 32;

/// Space for the output of the states of a group.
struct alignas(64) Squeezed {
  uint8_t bytes[kStates][kXofBlocks * kXofWords * 8 + 64];
};

/// A padded message in whole blocks of SHAKE256 or SHA3-256.
template <size_t kBytes>
struct Padded {
  static constexpr size_t kRate = kPrfWords * 8, kBlocks = kBytes / kRate + 1;
  uint8_t bytes[kBlocks * kRate];

  /// Sets and pads the message, whose first `head` bytes are at `first` and whose others are at `rest`.
  void set(const uint8_t* first, size_t head, const uint8_t* rest, uint8_t suffix) {
    std::memcpy(bytes, first, head);
    std::memcpy(bytes + head, rest, kBytes - head);
    std::memset(bytes + kBytes, 0, sizeof bytes - kBytes);
    bytes[kBytes] = suffix;
    bytes[sizeof bytes - 1] |= 0x80;
  }
};

/// `count` entries of the matrix, from entry `first` on, that are sampled together in the states after those of
/// `hashes` hashes.
struct SampleGroup {
  size_t first, count, hashes;
};

/// Divides the entries of the matrix into groups of kXofBlocks permutations, beside kHashes hashes of kHashBlocks
/// blocks in the first states. Wherever four states are enough, a group has four, which take less time on all CPUs but
/// a Zen 5.
template <size_t kEntries, size_t kHashes, size_t kHashBlocks>
struct SampleGroups {
  static_assert(kHashBlocks % kXofBlocks == 0);
  static constexpr size_t kHashGroups = kHashes == 0 ? 0 : kHashBlocks / kXofBlocks;

  /// Returns the number of entries in a group if `left` entries are left. Early groups take just enough entries that
  /// later ones fit in four states.
  static constexpr size_t entries_at(size_t group, size_t left) {
    const size_t hashes = group < kHashGroups ? kHashes : 0, few = 4 - hashes, most = kStates - hashes;
    const size_t later = group < kHashGroups ? (kHashGroups - group - 1) * few : 0;
    const size_t wanted = group < kHashGroups && left <= later + few ? few : most;
    return wanted < left ? wanted : left;
  }
  static constexpr size_t kCount = [] {
    size_t groups = 0;
    for (size_t left = kEntries; left > 0 || groups < kHashGroups; ++groups)
      left -= entries_at(groups, left);
    return groups;
  }();
  static constexpr auto kGroups = [] {
    std::array<SampleGroup, kCount> groups{};
    size_t first = 0;
    for (size_t w = 0; w < kCount; ++w) {
      const size_t count = entries_at(w, kEntries - first);
      groups[w] = {first, count, w < kHashGroups ? kHashes : 0};
      first += count;
    }
    return groups;
  }();
};

/// Returns the bytes that follow rho in the input of SampleNTT, and the suffix 0x1f.
constexpr uint64_t xof_tail(size_t first, size_t second) {
  return first | second << 8 | uint64_t{0x1f} << 16;
}

/// The Keccak states of the PRF for one seed. Row n of its output is SHAKE256(seed, nonce n). [FIPS203, 4.1]
class PrfStates {
 public:
  PrfStates(const uint8_t* seed, States& s) : s_(s) { std::memcpy(seed_, seed, sizeof seed_); }
  ~PrfStates() { zeroize(seed_, sizeof seed_); }
  PrfStates(const PrfStates&) = delete;
  PrfStates& operator=(const PrfStates&) = delete;

  /// Sets states [kept, used), and perhaps the following ones, to the messages with nonces first, first + 1, ... The
  /// states before them stay.
  void begin(size_t kept, size_t used, size_t first) {
    alignas(64) uint64_t keep[kStates], tails[kStates];
    for (size_t l = 0; l < kStates; ++l) {
      keep[l] = l < kept ? ~uint64_t{0} : 0;
      tails[l] = l < kept ? 0 : (first + l - kept) | uint64_t{0x1f} << 8;
    }
    const V64 mask = V64::load(keep);
    for (size_t w = 0; w < kStateWords; ++w) {
      V64 fresh = w < 4 ? V64::set1(seed_[w < 4 ? w : 0]) : V64::zero();
      if (w == 4) fresh = V64::load(tails);
      if (w == kPrfWords - 1) fresh = V64::set1(uint64_t{1} << 63);
      if (kept == 0) {
        s_.set(w, fresh);
      } else {
        polykem::keccak::replace(s_, used, w, mask, fresh);
      }
    }
  }

 private:
  States& s_;
  uint64_t seed_[kSymBytes / 8];
};

/// Samples the entries of a matrix: a[i kK + j] = SampleNTT(rho, j, i) or, if transposed, SampleNTT(rho, i, j). The
/// matrix is public. [FIPS203, Alg 7]
template <size_t kK>
class MatrixSampler {
 public:
  static constexpr size_t kEntries = kK * kK;

  /// `a` has space for kEntries polynomials and 64 bytes more.
  MatrixSampler(Poly* a, const uint8_t* rho, bool transposed, Squeezed& space)
      : a_(a), transposed_(transposed), space_(space) {
    std::memcpy(rho_, rho, sizeof rho_);
  }

  /// Samples all entries. Nothing else uses the states meanwhile.
  void sample(States& s) {
    using Plan = SampleGroups<kEntries, 0, kXofBlocks>;
    for (const auto& group : Plan::kGroups) {
      if (group.count == 1) {
        sample_entry(group.first);
      } else {
        run_group(s, group, [](size_t) { return Blocks<0>{}; });
      }
    }
  }

  /// The number of entries in a last group that leaves states without work; 0 if there is none.
  static constexpr size_t kRest = kEntries % kStates;

  /// Samples all entries and, beside the last ones, computes rows 0 to kRows - 1 of the PRF, which take kBlocks blocks
  /// each: 64 kEta bytes.
  template <size_t kRows, size_t kBlocks>
  void sample_with_noise(States& s, uint8_t* rows, size_t stride, const uint8_t* seed) {
    constexpr size_t kLast = kEntries - kRest, kPlaces = kStates - kRest;
    static_assert(kRest > 0 && kXofBlocks / kBlocks * kPlaces >= kRows);
    for (size_t first = 0; first < kLast; first += kStates)
      run_group(s, {first, kStates, 0}, [](size_t) { return Blocks<0>{}; });
    const SampleGroup group{kLast, kRest, 0};
    begin(s, group);
    PrfStates noise(seed, s);
    for (size_t block = 0; block < kXofBlocks; ++block) {
      const size_t row = block / kBlocks * kPlaces, left = row < kRows ? kRows - row : 0;
      const size_t end = kRest + (left < kPlaces ? left : kPlaces);
      if (left > 0 && block % kBlocks == 0) noise.begin(kRest, end, row);
      polykem::keccak::permute(s, end);
      squeeze(s, block, 0, kRest);
      uint8_t* const to = rows + row * stride - kRest * stride;
      if (block % kBlocks == 0) {
        polykem::keccak::squeeze_rows<kPrfWords>(to, stride, s, kRest, end);
      } else {
        polykem::keccak::squeeze_rows<24 - kPrfWords>(to + kPrfWords * 8, stride, s, kRest, end);
      }
    }
    accept_group(s, group);
  }

  /// Samples all entries and, beside them, hashes padded messages of kBlocks blocks. Word w of hash h is in
  /// s.words[w][h] afterwards.
  template <size_t kBlocks, size_t kHashes>
  void sample_overlapped(States& s, const uint8_t* const (&messages)[kHashes]) {
    using Plan = SampleGroups<kEntries, kHashes, kBlocks>;
    for (size_t w = 0; w < kStateWords; ++w)
      s.set(w, V64::zero());
    for (size_t n = 0; n < Plan::kCount; ++n) {
      if (n >= Plan::kHashGroups) {
        run_group(s, Plan::kGroups[n], [](size_t) { return Blocks<0>{}; });
        continue;
      }
      run_group(s, Plan::kGroups[n], [&](size_t block) {
        Blocks<kHashes> blocks;
        for (size_t h = 0; h < kHashes; ++h)
          blocks.at[h] = messages[h] + (n * kXofBlocks + block) * kPrfWords * 8;
        return blocks;
      });
      if (n + 1 == Plan::kHashGroups) keep_hashes(s, kHashes);
    }
    restore_hashes(s);
  }

 private:
  uint64_t tail(size_t entry) const {
    const size_t i = entry / kK, j = entry % kK;
    return transposed_ ? xof_tail(i, j) : xof_tail(j, i);
  }

  /// Sets states [hashes, kStates) to the messages of the group's entries. The states of hashes stay.
  POLYKEM_INLINE void begin(States& s, const SampleGroup& group) const {
    alignas(64) uint64_t keep[kStates], tails[kStates];
    for (size_t l = 0; l < kStates; ++l) {
      keep[l] = l < group.hashes ? ~uint64_t{0} : 0;
      const size_t n = l < group.hashes ? 0 : l - group.hashes;
      tails[l] = l < group.hashes ? 0 : tail(n < group.count ? group.first + n : group.first);
    }
    const V64 kept = V64::load(keep);
    const size_t used = group.hashes + group.count;
    for (size_t w = 0; w < kStateWords; ++w) {
      V64 fresh = w < 4 ? V64::set1(rho_[w < 4 ? w : 0]) : V64::zero();
      if (w == 4) fresh = V64::load(tails);
      if (w == kXofWords - 1) fresh = V64::set1(uint64_t{1} << 63);
      polykem::keccak::replace(s, used, w, kept, fresh);
    }
  }

  /// Samples the entries of a group. blocks_of(n) returns the blocks that the hashes absorb before permutation n.
  template <class BlocksOf>
  POLYKEM_INLINE void run_group(States& s, const SampleGroup& group, BlocksOf&& blocks_of) {
    const size_t end = group.hashes + group.count;
    if (group.count > 0) begin(s, group);
    for (size_t block = 0; block < kXofBlocks; ++block) {
      polykem::keccak::permute(s, end, blocks_of(block));
      squeeze(s, block, group.hashes, end);
    }
    accept_group(s, group);
  }

  POLYKEM_INLINE void accept_group(const States& s, const SampleGroup& group) {
    size_t filled[kStates], fewest = kN;
    for (size_t n = 0; n < group.count; ++n) {
      filled[n] = accept_first(a_[group.first + n], space_.bytes[group.hashes + n]);
      fewest = filled[n] < fewest ? filled[n] : fewest;
    }
    if (fewest < kN) continue_group(s, group.first, group.count, group.hashes, filled);
  }

  void squeeze(const States& s, size_t block, size_t first, size_t end) {
    polykem::keccak::squeeze_rows<kXofWords>(space_.bytes[0] + block * kXofWords * 8, sizeof space_.bytes[0], s, first,
                                             end);
  }

  /// Accepts coefficients from the first blocks and returns their number. Up to 32 words more may be written after the
  /// polynomial, where an entry follows that is sampled later.
  static POLYKEM_INLINE size_t accept_first(Poly& a, const uint8_t* bytes) {
    return ntt::accept(a.c, 0, bytes, kXofBlocks * kXofWords * 8);
  }

  /// Completes the entries that need a fourth block or more: one in 140. It permutes a copy of the states, because
  /// the states of hashes must stay as they are.
  POLYKEM_NOINLINE void continue_group(const States& s, size_t first, size_t count, size_t hashes, size_t* filled) {
    States more = s;
    for (size_t fewest = 0; fewest < kN;) {
      polykem::keccak::permute(more, hashes + count);
      squeeze(more, 0, hashes, hashes + count);
      fewest = kN;
      for (size_t n = 0; n < count; ++n) {
        if (filled[n] < kN) filled[n] = accept_more(a_[first + n], filled[n], space_.bytes[hashes + n]);
        fewest = filled[n] < fewest ? filled[n] : fewest;
      }
    }
    zeroize(&more, sizeof more);
  }
  static size_t accept_more(Poly& a, size_t filled, const uint8_t* bytes) {
    alignas(64) uint16_t accepted[kAcceptedWords];
    std::memcpy(accepted, a.c, sizeof a.c);
    filled = ntt::accept(accepted, filled, bytes, kXofWords * 8);
    std::memcpy(a.c, accepted, sizeof a.c);
    return filled;
  }

  void sample_entry(size_t entry) {
    alignas(64) uint8_t block[kXofWords * 8] = {};
    std::memcpy(block, rho_, sizeof rho_);
    const uint64_t end = tail(entry);
    std::memcpy(block + sizeof rho_, &end, sizeof end);
    block[sizeof block - 1] |= 0x80;
    with_single_state([&](auto& state) __attribute__((always_inline)) {
      state.template absorb<kXofWords>(block);
      uint8_t* bytes = space_.bytes[0];
      for (size_t n = 0; n < kXofBlocks; ++n) {
        state.permute();
        state.template squeeze<kXofWords>(bytes + n * kXofWords * 8);
      }
      size_t filled = accept_first(a_[entry], bytes);
      while (filled < kN) {
        state.permute();
        state.template squeeze<kXofWords>(bytes);
        filled = accept_more(a_[entry], filled, bytes);
      }
    });
  }

  /// Keeps the digests of hashes that end before the matrix does, because their states are needed for other entries.
  void keep_hashes(const States& s, size_t hashes) {
    for (size_t w = 0; w < kSymBytes / 8; ++w) {
      for (size_t h = 0; h < hashes; ++h)
        hashes_[w][h] = s.words[w][h];
    }
  }
  void restore_hashes(States& s) {
    for (size_t w = 0; w < kSymBytes / 8; ++w)
      std::memcpy(s.words[w], hashes_[w], sizeof hashes_[w]);
    zeroize(hashes_, sizeof hashes_);
  }

  Poly* a_;
  bool transposed_;
  Squeezed& space_;
  uint64_t rho_[kSymBytes / 8];
  uint64_t hashes_[kSymBytes / 8][2] = {};
};

/// Stores the digest of hash h.
inline void store_digest(uint8_t* out, const States& s, size_t h) {
  for (size_t w = 0; w < kSymBytes / 8; ++w)
    std::memcpy(out + 8 * w, &s.words[w][h], 8);
}

/// Computes rows 0 to kCount - 1 of the PRF: 192 bytes of the first kLong rows, 128 bytes of the others. Up to 64 bytes
/// are written past the end of a row.
template <size_t kCount, size_t kLong>
void prf_rows(uint8_t* out, size_t stride, const uint8_t* seed, States& s) {
  using polykem::keccak::permute, polykem::keccak::squeeze_rows;
  PrfStates states(seed, s);
  if constexpr (kLong > 0) {  // rows that find no state at first take that of a complete row
    constexpr size_t kFirst = kCount < 4 ? kCount : 4, kLater = kCount - kFirst;
    static_assert(kLong + kLater <= 4);
    states.begin(0, kFirst, 0);
    permute(s, kFirst);
    squeeze_rows<kPrfWords>(out, stride, s, 0, kFirst);
    if constexpr (kLater > 0) states.begin(kLong, kLong + kLater, kFirst);
    permute(s, kLong + kLater);
    squeeze_rows<24 - kPrfWords>(out + kPrfWords * 8, stride, s, 0, kLong);
    if constexpr (kLater > 0)
      squeeze_rows<kPrfWords>(out + (kFirst - kLong) * stride, stride, s, kLong, kLong + kLater);
  } else {
    constexpr size_t kTogether = kCount % kStates == 1 ? kCount - 1 : kCount;
    for (size_t first = 0; first < kTogether; first += kStates) {
      const size_t here = kTogether - first < kStates ? kTogether - first : kStates;
      states.begin(0, here, first);
      permute(s, here);
      squeeze_rows<kPrfWords>(out + first * stride, stride, s, 0, here);
    }
    if constexpr (kTogether < kCount) {
      uint8_t message[kSymBytes + 1];
      std::memcpy(message, seed, kSymBytes);
      message[kSymBytes] = kTogether;
      polykem::keccak::hash_single<kPrfWords * 8, polykem::keccak::kShakeSuffix, 128, sizeof message>(
          out + kTogether * stride, message);
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
