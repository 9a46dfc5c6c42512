// SPDX-License-Identifier: Apache-2.0
// Methods with an item in each lane, and the library's products of one item for NTRU and Saber.
#pragma once

#include "ntt_words.hpp"
#include "prim/polymul/lanes/products.hpp"
#include "schemes/saber/interleaved/product.hpp"
#include "schoolbook_pairs.hpp"
#include "schoolbook_words.hpp"
#include "tables.hpp"
#include "ternary_bytes.hpp"

namespace polykem::lab {
inline namespace POLYKEM_ISA {

struct LaneList {
  static constexpr size_t kRoom = 72;
  LaneProduct products[kRoom] = {};
  size_t count = 0;
  constexpr void add(const LaneProduct& product) { products[count++] = product; }
};

template <class Cyclic>
void run_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
  Cyclic::mul(c, a, b, static_cast<uint16_t*>(workspace));
}

/// All methods for one n. Parameters: log2 q, length and leaf of Karatsuba alone, shape of the transforms.
template <size_t kN, unsigned kLogQ, size_t kKaratsuba, size_t kLeaf, size_t kLayers, size_t kM>
constexpr void add_ntru(LaneList& list) {
  using Plan = ProductPlan<kN>;
  using Words = SchoolbookWords<kN>;
  using Pairs = SchoolbookPairs<kN>;
  using Bytes = TernaryBytes<kN>;
  using Karatsuba = KaratsubaWords<kN, kKaratsuba, kLeaf>;
  using TwoPrimes = NttWords<kN, kLogQ, kLayers, kM, 7681, 3329>;
  using ThreePrimes = NttWords<kN, kLogQ, kLayers, kM, 10753, 7681, 3329>;
  constexpr unsigned kExact = Plan::kExactBits;
  constexpr size_t kCyclicBytes = Plan::Cyclic::kWorkspaceRows * kLanes * sizeof(uint16_t);
  list.add({"schoolbook_words", "vpmullw and vpaddw", Kind::kCyclicAny, kN, kLanes, 16, Words::kWorkspaceBytes,
            Words::mul, 2 * Words::kFloor});
  list.add({"schoolbook_pairs", "vpdpwssd (VNNI), or vpmaddwd and vpaddd", Kind::kCyclicAny, kN, kLanes, 16,
            Pairs::kWorkspaceBytes, Pairs::mul, 2 * Pairs::kFloor});
  list.add({"karatsuba", "Karatsuba over words", Kind::kCyclicAny, kN, kLanes, 16, Karatsuba::kWorkspaceBytes,
            Karatsuba::mul, 0});
  list.add({"ntt3", "transforms modulo three primes of 16 bits", Kind::kCyclicAny, kN, kLanes, 16,
            ThreePrimes::kWorkspaceBytes, ThreePrimes::mul, 2 * ThreePrimes::kFloor});
  list.add({"toom_karatsuba", "Toom and Karatsuba over words", Kind::kCyclicAny, kN, kLanes, kExact, kCyclicBytes,
            run_cyclic<typename Plan::Cyclic>, 0, true});
  list.add({"ntt2", "transforms modulo two primes of 16 bits", Kind::kCyclicTernary, kN, kLanes, 16,
            TwoPrimes::kWorkspaceBytes, TwoPrimes::mul, 2 * TwoPrimes::kFloor});
  list.add({"schoolbook_bytes", "vpmaddubsw", Kind::kS3, kN, kLanes, 0, Bytes::kWorkspaceBytes, Bytes::mul,
            2 * Bytes::kFloor});
  list.add({"karatsuba_bits", "Karatsuba over bit slices", Kind::kS3, kN, kLanes, 0, Plan::Ternary::kWorkspaceBytes,
            run_cyclic<typename Plan::Ternary>, 0, true});
  list.add({"one_toom_karatsuba", "one item, Toom and Karatsuba over words", Kind::kCyclicAny, kN, 1, kExact,
            Plan::SingleTernary::kWorkspaceBytes, run_cyclic<typename Plan::Single>, 0, true});
  list.add({"one_toom_karatsuba_mod3", "the same, then modulo 3", Kind::kS3, kN, 1, 0,
            Plan::SingleTernary::kWorkspaceBytes, run_cyclic<typename Plan::SingleTernary>, 0, true});
  if constexpr (4 * kN < (1u << kExact)) {
    using WordsS3 = TernaryWords<kN, typename Plan::Cyclic, kExact>;
    list.add({"toom_karatsuba_mod3", "Toom and Karatsuba over words, then modulo 3", Kind::kS3, kN, kLanes, 0,
              WordsS3::kWorkspaceBytes, WordsS3::mul, 0});
  }
}

inline void saber_block(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
  auto& products = *static_cast<saber::interleaved::InterleavedProducts<1>*>(workspace);
  products.set_column(0, b);
  products.set_row(0, a);
  products.multiply(c);
}

inline void saber_single(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
  using saber::Poly;
  auto& space = *static_cast<saber::interleaved::SingleProduct::Space<1>*>(workspace);
  saber::interleaved::SingleProduct::multiply<1, 1>(reinterpret_cast<Poly*>(c), reinterpret_cast<const Poly*>(a),
                                                    reinterpret_cast<const Poly*>(b), space);
}

constexpr void add_saber(LaneList& list) {
  using Block = saber::interleaved::InterleavedProducts<1>;
  using Single = saber::interleaved::SingleProduct::Space<1>;
  constexpr unsigned kExact = 13;
  // Three products of eight by eight rows for each leaf.
  constexpr double kMultiplications = 3.0 * 64 * saber::interleaved::kLeaves / saber::interleaved::kLanes;
  list.add({"toom4_karatsuba", "Toom-4 and Karatsuba over words", Kind::kNegacyclic, 256, saber::interleaved::kLanes,
            kExact, sizeof(Block), saber_block, kMultiplications, true});
  list.add({"one_toom4_karatsuba", "one item, Toom-4 and Karatsuba over words", Kind::kNegacyclic, 256, 1, kExact,
            sizeof(Single), saber_single, 0, true});
}

constexpr LaneList make_lane_list() {
  LaneList list;
  add_ntru<509, 11, 512, 16, 8, 4>(list);
  add_ntru<677, 11, 704, 22, 7, 11>(list);
  add_ntru<701, 13, 704, 22, 7, 11>(list);
  add_ntru<821, 12, 832, 26, 7, 13>(list);
  add_ntru<1229, 12, 1280, 20, 8, 10>(list);
  add_ntru<1373, 14, 1408, 22, 8, 11>(list);
  add_saber(list);
  return list;
}
inline constexpr LaneList kLaneList = make_lane_list();

}  // namespace POLYKEM_ISA
}  // namespace polykem::lab
