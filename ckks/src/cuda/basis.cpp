// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/basis.hpp"

namespace polykem::ckks::cuda {

uint64_t product_mod(const std::vector<uint64_t>& primes, int without, uint64_t q) {
  uint64_t product = 1 % q;
  for (size_t i = 0; i < primes.size(); ++i) {
    if (static_cast<int>(i) != without) product = multiply_mod(product, primes[i] % q, q);
  }
  return product;
}

namespace {

uint64_t times_2_32(uint64_t x, uint64_t q) {
  return multiply_mod(x, (uint64_t{1} << 32) % q, q);
}

/// Appends the words of one lane for the tile `tile` of eight sources from `first` on. entry(source): returns the
/// matrix's entry, times 2^32.
template <class Entry>
void add_fragment(std::vector<uint32_t>& fragments, uint32_t first, int tile, uint32_t lane, uint64_t q,
                  const Entry& entry) {
  for (uint32_t word = 0; word < 4; ++word) {
    const uint32_t source = first + 4 * (word / 2) + lane % 4, byte = 2 * static_cast<uint32_t>(tile) + word % 2;
    uint64_t column = entry(source);
    uint32_t packed = 0;
    for (int a = 0; a < 4; ++a) {
      packed |= static_cast<uint32_t>(column >> (8 * byte) & 0xff) << (8 * a);
      column = column * 256 % q;
    }
    fragments.push_back(packed);
  }
}

}  // namespace

template <class Word>
HostConversion<Word> make_conversion(const std::vector<PrimeRoot>& primes, const std::vector<uint8_t>& sources,
                                     const RowMap& targets) {
  HostConversion<Word> conversion{static_cast<uint32_t>(sources.size()), targets, sources, {}, {}, {}};
  std::vector<uint64_t> moduli;
  for (uint8_t source : sources)
    moduli.push_back(primes[source].q);
  for (size_t i = 0; i < moduli.size(); ++i) {
    const uint64_t hat = product_mod(moduli, static_cast<int>(i), moduli[i]);
    conversion.hat_inverse.push_back(make_factor<Word>(inverse_mod(hat, moduli[i]), moduli[i]));
  }
  const auto modulus = [&](uint32_t target) -> uint64_t {
    const bool none = target >= targets.count || targets.prime[target] == RowMap::kSkip;
    return none ? 0 : primes[targets.prime[target]].q;
  };
  const auto entry = [&](uint32_t source, uint32_t target) -> uint64_t {
    const uint64_t q = modulus(target);
    if (q == 0 || source >= sources.size()) return 0;
    const uint64_t hat = product_mod(moduli, static_cast<int>(source), q);
    return sizeof(Word) == 4 ? times_2_32(hat, q) : hat;
  };
  for (uint32_t group = 0; group < targets.count; group += kTargetGroup) {
    for (uint32_t source = 0; source < sources.size(); ++source) {
      for (uint32_t target = group; target < group + kTargetGroup; ++target)
        conversion.matrix.push_back(static_cast<Word>(entry(source, target)));
    }
    for (uint32_t first = 0; sizeof(Word) == 4 && first < sources.size(); first += 8) {
      for (int tile = 0; tile < 2; ++tile) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
          const uint32_t target = group + lane / 4;
          const uint64_t q = modulus(target);
          add_fragment(conversion.fragments, first, tile, lane, q == 0 ? 1 : q,
                       [&](uint32_t source) { return entry(source, target); });
        }
      }
    }
  }
  return conversion;
}

template HostConversion<uint32_t> make_conversion(const std::vector<PrimeRoot>&, const std::vector<uint8_t>&,
                                                  const RowMap&);
template HostConversion<uint64_t> make_conversion(const std::vector<PrimeRoot>&, const std::vector<uint8_t>&,
                                                  const RowMap&);

}  // namespace polykem::ckks::cuda
