// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ntt_words.hpp"
#include "prim/polymul/lanes/products.hpp"
#include "product.hpp"
#include "schoolbook_pairs.hpp"
#include "schoolbook_words.hpp"
#include "ternary_bytes.hpp"

namespace polykem::bench {
inline namespace POLYKEM_ISA {

template <class Cyclic>
void run_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, void* ws) {
  Cyclic::mul(c, a, b, static_cast<uint16_t*>(ws));
}

/// Everything there is for one n: log2 q, the length of Karatsuba alone and its leaf, the shape of the transforms.
template <size_t kN, unsigned kLogQ, size_t kKaratsuba, size_t kLeaf, size_t kLayers, size_t kM>
void add_products(std::vector<Product>& list) {
  using Plan = ProductPlan<kN>;
  using Words = SchoolbookWords<kN>;
  using Pairs = SchoolbookPairs<kN>;
  using Bytes = TernaryBytes<kN>;
  using Karatsuba = KaratsubaWords<kN, kKaratsuba, kLeaf>;
  using TwoPrimes = NttWords<kN, kLogQ, kLayers, kM, 7681, 3329>;
  using ThreePrimes = NttWords<kN, kLogQ, kLayers, kM, 10753, 7681, 3329>;
  constexpr unsigned kExact = Plan::kExactBits;
  constexpr size_t kCyclicBytes = Plan::Cyclic::kWorkspaceRows * kLanes * sizeof(uint16_t);
  const Product products[] = {
      {"schoolbook words (vpmullw)", Kind::cyclic, kN, kLanes, 16, Words::kWorkspaceBytes, Words::mul, Words::kFloor},
      {"schoolbook pairs (vpdpwssd, vpmaddwd)", Kind::cyclic, kN, kLanes, 16, Pairs::kWorkspaceBytes, Pairs::mul,
       Pairs::kFloor},
      {"Karatsuba words", Kind::cyclic, kN, kLanes, 16, Karatsuba::kWorkspaceBytes, Karatsuba::mul, 0},
      {"NTT, three primes", Kind::cyclic, kN, kLanes, 16, ThreePrimes::kWorkspaceBytes, ThreePrimes::mul,
       ThreePrimes::kFloor},
      {"Toom and Karatsuba words", Kind::cyclic, kN, kLanes, kExact, kCyclicBytes, run_cyclic<typename Plan::Cyclic>, 0,
       true},
      {"NTT, two primes", Kind::cyclic_ternary, kN, kLanes, 16, TwoPrimes::kWorkspaceBytes, TwoPrimes::mul,
       TwoPrimes::kFloor},
      {"schoolbook bytes (vpmaddubsw)", Kind::s3, kN, kLanes, 0, Bytes::kWorkspaceBytes, Bytes::mul, Bytes::kFloor},
      {"bit-sliced Karatsuba", Kind::s3, kN, kLanes, 0, Plan::Ternary::kWorkspaceBytes,
       run_cyclic<typename Plan::Ternary>, 0, true},
      {"one item: Toom and Karatsuba", Kind::cyclic, kN, 1, kExact, Plan::OneTernary::kWorkspaceBytes,
       run_cyclic<typename Plan::One>, 0, true},
      {"one item: the same, then mod 3", Kind::s3, kN, 1, 0, Plan::OneTernary::kWorkspaceBytes,
       run_cyclic<typename Plan::OneTernary>, 0, true},
  };
  list.insert(list.end(), std::begin(products), std::end(products));
  if constexpr (4 * kN < (1u << kExact)) {
    using WordsS3 = TernaryWords<kN, typename Plan::Cyclic, kExact>;
    list.push_back(
        {"Toom and Karatsuba words, then mod 3", Kind::s3, kN, kLanes, 0, WordsS3::kWorkspaceBytes, WordsS3::mul, 0});
  }
}

inline std::vector<Product> all_products() {
  std::vector<Product> list;
  add_products<509, 11, 512, 16, 8, 4>(list);
  add_products<677, 11, 704, 22, 7, 11>(list);
  add_products<701, 13, 704, 22, 7, 11>(list);
  add_products<821, 12, 832, 26, 7, 13>(list);
  add_products<1229, 12, 1280, 20, 8, 10>(list);
  add_products<1373, 14, 1408, 22, 8, 11>(list);
  return list;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::bench
