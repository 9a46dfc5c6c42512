// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/polymul/lanes/karatsuba.hpp"

namespace polykem::lab {
inline namespace POLYKEM_ISA {

using namespace polykem::polymul;

constexpr size_t kSchoolbookBlock = 11;
constexpr size_t blocks_of(size_t n, size_t block) {
  return (n + block - 1) / block;
}

inline void copy_padded(uint16_t* to, const uint16_t* from, size_t rows, size_t padded) {
  for (size_t i = 0; i < rows; ++i)
    store_row(to, i, load_row(from, i));
  for (size_t i = rows; i < padded; ++i)
    store_row(to, i, V16::zero());
}

/// Computes c[i] = linear[i] + linear[n + i]. The linear product has 2 n - 1 rows.
inline void fold_rows(uint16_t* c, const uint16_t* linear, size_t n) {
  for (size_t i = 0; i + 1 < n; ++i)
    store_row(c, i, load_row(linear, i) + load_row(linear, n + i));
  store_row(c, n - 1, load_row(linear, n - 1));
}

/// Schoolbook multiplication by vpmullw and vpaddw, in blocks of registers.
template <size_t kN>
struct SchoolbookWords {
  static constexpr size_t kBlocks = blocks_of(kN, kSchoolbookBlock);
  static constexpr size_t kP = kBlocks * kSchoolbookBlock;
  static constexpr size_t kWorkspaceBytes = 4 * kP * kLanes * sizeof(uint16_t);
  static constexpr double kFloor = static_cast<double>(kN) * kN / (2.0 * kLanes);

  static void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    uint16_t* pa = static_cast<uint16_t*>(workspace);
    uint16_t* pb = pa + kP * kLanes;
    uint16_t* linear = pb + kP * kLanes;
    copy_padded(pa, a, kN, kP);
    copy_padded(pb, b, kN, kP);
    for (size_t i = 0; i < 2 * kP; ++i)
      store_row(linear, i, V16::zero());
    for (size_t i = 0; i < kP; i += kSchoolbookBlock) {
      for (size_t j = 0; j < kP; j += kSchoolbookBlock) {
        add_block(linear + (i + j) * kLanes, pa + i * kLanes, pb + j * kLanes);
      }
    }
    fold_rows(c, linear, kN);
  }

 private:
  static POLYKEM_NOINLINE void add_block(uint16_t* c, const uint16_t* a, const uint16_t* b) {
    schoolbook<V16, kSchoolbookBlock>(
        c, Rows<V16>{a},
        Rows<V16>{b}, [&](auto k, V16 v) __attribute__((always_inline)) { store_row(c, k, load_row(c, k) + v); });
  }
};

/// Karatsuba on all levels down to kLeaf, without loss of bits; kP = 2^j kLeaf >= kN.
template <size_t kN, size_t kP, size_t kLeaf>
struct KaratsubaWords {
  using Linear = Karatsuba<kP, kLeaf, 2>;
  static constexpr size_t kWorkspaceBytes = (4 * kP + Linear::kTmpRows) * kLanes * sizeof(uint16_t);

  static void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    uint16_t* pa = static_cast<uint16_t*>(workspace);
    uint16_t* pb = pa + kP * kLanes;
    uint16_t* linear = pb + kP * kLanes;
    copy_padded(pa, a, kN, kP);
    copy_padded(pb, b, kN, kP);
    Linear::mul(linear, pa, pb, linear + 2 * kP * kLanes);
    fold_rows(c, linear, kN);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lab
