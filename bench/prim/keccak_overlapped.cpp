// SPDX-License-Identifier: Apache-2.0
// Computes Keccak-f[1600] on eight states in vectors and on a ninth in general registers, interleaved. The library does
// not do this; the benchmark measures what a CPU would gain.
#include "prim/keccak/lanes/keccak_lanes.hpp"

#include <array>
#include <bit>

#include "bench.hpp"

namespace polykem::bench {
namespace {

using keccak::kIota, keccak::kStateWords, keccak::V64;

struct Word {
  uint64_t r;
  template <unsigned kBits>
  POLYKEM_INLINE Word rol() const {
    return {std::rotl(r, kBits)};
  }
  friend POLYKEM_INLINE Word operator^(Word a, Word b) { return {a.r ^ b.r}; }
  friend POLYKEM_INLINE Word xor3(Word a, Word b, Word c) { return {a.r ^ b.r ^ c.r}; }
  friend POLYKEM_INLINE Word xor_andnot(Word a, Word b, Word c) { return {a.r ^ (~b.r & c.r)}; }
};

constexpr auto kRows = std::make_index_sequence<5>();

template <class V, size_t... kX>
POLYKEM_INLINE std::array<V, 5> theta(const V* in, std::index_sequence<kX...>) {
  const V column[5] = {xor3(xor3(in[kX], in[kX + 5], in[kX + 10]), in[kX + 15], in[kX + 20])...};
  return {(column[(kX + 4) % 5] ^ column[(kX + 1) % 5].template rol<1>())...};
}

/// Computes keccak::keccak_round() of the eight states and, between its rows, rows of a round of the ninth.
template <size_t... kRow>
POLYKEM_INLINE void round_of_both(V64* out, const V64* in, size_t round, Word* single_out, const Word* single_in,
                                  size_t single_round, std::index_sequence<kRow...>) {
  const auto change = theta(in, kRows);
  const auto single_change = theta(single_in, kRows);
  ((keccak::theta_rho_pi_chi_row<kRow>(out, in, change.data(), kRows),
    keccak::theta_rho_pi_chi_row<kRow>(single_out, single_in, single_change.data(), kRows)),
   ...);
  out[0] = out[0] ^ V64::set1(kIota.at[round]);
  single_out[0] = single_out[0] ^ Word { kIota.at[single_round] };
}

/// Computes kEach permutations of the eight states and one of the ninth: a round of the ninth to kEach of the eight.
template <size_t kEach, size_t... kWord>
POLYKEM_NOINLINE void permute_overlapped(uint64_t* states, uint64_t* single_state, std::index_sequence<kWord...>) {
  V64 even[kStateWords] = {V64::load(states + kWord * V64::kLanes)...}, odd[kStateWords];
  Word single_even[kStateWords] = {Word{single_state[kWord]}...}, single_odd[kStateWords];
#pragma GCC unroll 1
  for (size_t step = 0; step < 24 * kEach; step += 2 * kEach) {
    const size_t round = step % 24, one = step / kEach;
    round_of_both(odd, even, round, single_odd, single_even, one, kRows);
    if constexpr (kEach == 1) {
      round_of_both(even, odd, round + 1, single_even, single_odd, one + 1, kRows);
    } else {
      keccak::keccak_round(even, odd, V64::set1(kIota.at[round + 1]), kRows);
      round_of_both(odd, even, round + 2, single_even, single_odd, one + 1, kRows);
      keccak::keccak_round(even, odd, V64::set1(kIota.at[round + 3]), kRows);
    }
  }
  (even[kWord].store(states + kWord * V64::kLanes), ...);
  ((single_state[kWord] = single_even[kWord].r), ...);
}

template <size_t kEach>
void measure(const char* name, double floor) {
  auto *states = aligned<uint64_t>(kStateWords * V64::kLanes), *wanted = aligned<uint64_t>(kStateWords * V64::kLanes);
  auto* one = aligned<uint64_t>(kStateWords);
  const auto permute = [&] { permute_overlapped<kEach>(states, one, std::make_index_sequence<kStateWords>()); };
  const double spent = cycles([&] {
    for (int i = 0; i < 16; ++i)
      permute();
  });
  // The ninth state begins like the first, and must equal it after one permutation.
  fill_noise(states, kStateWords * V64::kLanes * sizeof *states);
  std::copy_n(states, kStateWords * V64::kLanes, wanted);
  for (size_t w = 0; w < kStateWords; ++w)
    one[w] = states[w * V64::kLanes];
  permute();
  bool right = true;
  for (size_t i = 0; i < kEach; ++i) {
    kKeccakFormsAvx512.compiled.permute(wanted);
    for (size_t w = 0; w < kStateWords && i == 0; ++w)
      right = right && one[w] == wanted[w * V64::kLanes];
  }
  right = right && std::equal(states, states + kStateWords * V64::kLanes, wanted);
  if (right) {
    report(name, Isa::kAvx512, spent / 16 / (8 * kEach + 1), floor * 8 * kEach / (8 * kEach + 1));
  } else {
    std::printf("%s: wrong\n", name);
    std::exit(1);
  }
}

}  // namespace

void bench_keccak_overlapped(double floor) {
  measure<1>("keccak-f1600, 8 and 1", floor);
  measure<2>("keccak-f1600, 8 twice and 1", floor);
}

}  // namespace polykem::bench
