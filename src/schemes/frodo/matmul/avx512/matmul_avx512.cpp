// SPDX-License-Identifier: Apache-2.0
// Computes c += a b along the rows of b, and chooses between the forms of dot products.
#include "core/cpu_features.hpp"
#include "schemes/frodo/matmul/avx512/columns.hpp"
#include "schemes/frodo/matmul/avx512/dots.hpp"
#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem {

namespace {

using namespace matmul;

constexpr size_t kRows = 8;  ///< rows of a in one block of sums
/// The number of rows of b that are used for all rows of a before the next ones, so that they stay in the L1 cache.
constexpr size_t kInnerBlock = 128;

// ---- few rows of a: no multiplication is saved

POLYKEM_INLINE void add_term(Sums& sum, const TwoRows& b, const uint16_t* a) {
  const __m512i x = broadcast_pair(a);
  sum.low = add_products(sum.low, x, b.low);
  sum.high = add_products(sum.high, x, b.high);
}

/// Computes some rows of c, the columns of `words`, with an even number of terms. Indices are template arguments: loops
/// would keep the sums in memory.
template <size_t... i>
POLYKEM_INLINE void mul_add_block(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner, __mmask32 words,
                                  std::index_sequence<i...>) {
  Sums sum[sizeof...(i)];
  (sum[i].clear(), ...);
  const uint16_t* row = b.data;
  for (size_t k = 0; k < inner; k += 2, row += 2 * b.stride) {
    const TwoRows two = load_two_rows(row, b.stride, words);
    (add_term(sum[i], two, a.row(i) + k), ...);
  }
  (add_to(c.row(i), words, sum[i].joined()), ...);
}

/// Adds the last of an odd number of terms.
void add_last_term(Matrix16 c, ConstMatrix16 a, const uint16_t* b, ProductShape shape) {
  for (size_t i = 0; i < shape.rows; ++i) {
    const __m512i x = _mm512_set1_epi16(static_cast<short>(a.row(i)[shape.inner - 1]));
    for (size_t j = 0; j < shape.columns; j += kLanes) {
      const __mmask32 words = first_words(shape.columns - j);
      add_to(c.row(i) + j, words, _mm512_mullo_epi16(x, _mm512_maskz_loadu_epi16(words, b + j)));
    }
  }
}

template <size_t kCount>
void mul_add_rows(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner, size_t columns) {
  for (size_t j = 0; j < columns; j += kLanes) {
    mul_add_block({c.data + j, c.stride}, a, {b.data + j, b.stride}, inner, first_words(columns - j),
                  std::make_index_sequence<kCount>());
  }
}

void mul_add_few(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  const size_t even = shape.inner / 2 * 2;
  for (size_t k = 0; k < even; k += kInnerBlock) {
    const size_t inner = std::min(kInnerBlock, even - k);
    const ConstMatrix16 part{b.row(k), b.stride};
    size_t i = 0;
    for (; i + kRows <= shape.rows; i += kRows)
      mul_add_rows<kRows>({c.row(i), c.stride}, {a.row(i) + k, a.stride}, part, inner, shape.columns);
    for (; i < shape.rows; ++i)
      mul_add_rows<1>({c.row(i), c.stride}, {a.row(i) + k, a.stride}, part, inner, shape.columns);
  }
  if (even < shape.inner) add_last_term(c, a, b.row(even), shape);
}

// ---- many rows of a: columns of b are reordered once, and half of the multiplications are saved

constexpr size_t kTerms = 4;  ///< terms of one step: two pairs in each 32-bit lane
/// Rows of a and columns of b that are computed together: this much of c stays in the L2 cache until all terms are
/// added.
constexpr size_t kMaxRows = 128, kColumnBlock = 1024;

/// 32 columns of b: terms k, k + 1 and their partners k + 2, k + 3, and the own products to subtract.
struct Panel {
  PanelStep steps[kInnerBlock / kTerms];
  __m512i own;

  Panel(ConstMatrix16 b, size_t inner, __mmask32 words) {
    Sums sum;
    sum.clear();
    const uint16_t* row = b.data;
    for (size_t k = 0; k < inner; k += kTerms, row += kTerms * b.stride) {
      const TwoRows p = load_two_rows(row, b.stride, words);
      const TwoRows q = load_two_rows(row + 2 * b.stride, b.stride, words);
      steps[k / kTerms] = {p, q};
      sum.low = add_products(sum.low, p.low, q.low);
      sum.high = add_products(sum.high, p.high, q.high);
    }
    own = sum.joined();
  }
};

template <size_t... i>
POLYKEM_INLINE void mul_add_panel(Matrix16 c, ConstMatrix16 a, const Panel& panel, size_t inner, __mmask32 words,
                                  const uint32_t* own, std::index_sequence<i...>) {
  Sums sum[sizeof...(i)];
  (sum[i].clear(), ...);
  for (size_t k = 0; k < inner; k += kTerms) {
    const PanelStep& at = panel.steps[k / kTerms];
    const PanelStep step = {{in_register(at.p.low), in_register(at.p.high)},
                            {in_register(at.q.low), in_register(at.q.high)}};
    (add_step(sum[i], step, a.row(i) + k), ...);
  }
  (add_to(c.row(i), words, without_own(sum[i], panel.own, own[i])), ...);
}

/// Computes kRows rows of a and c for each of shape.count, at most kMaxRows together, with at most kInnerBlock terms.
void mul_add_many(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, const ProductShape& shape) {
  uint32_t own[kMaxRows];
  for (size_t t = 0; t < shape.count; ++t) {
    for (size_t i = 0; i < kRows; ++i)
      own[t * kRows + i] = winograd_correction(a.row(i) + t * shape.a_step, shape.inner);
  }
  for (size_t j = 0; j < shape.columns; j += kLanes) {
    const __mmask32 words = first_words(shape.columns - j);
    const Panel panel({b.data + j, b.stride}, shape.inner, words);
    for (size_t t = 0; t < shape.count; ++t) {
      mul_add_panel({c.data + t * shape.c_step + j, c.stride}, {a.data + t * shape.a_step, a.stride}, panel,
                    shape.inner, words, own + t * kRows, std::make_index_sequence<kRows>());
    }
  }
}

/// Computes kRows rows for each of shape.count: whole steps with panels, the rest without.
void mul_add_blocks(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, const ProductShape& shape) {
  constexpr size_t kMinForPanels = 2;
  const size_t terms = shape.count >= kMinForPanels ? shape.inner / kTerms * kTerms : 0;
  ProductShape part = shape;
  for (size_t j = 0; j < shape.columns && terms > 0; j += kColumnBlock) {
    part.columns = std::min(kColumnBlock, shape.columns - j);
    for (size_t t = 0; t < shape.count; t += part.count) {
      part.count = std::min(kMaxRows / kRows, shape.count - t);
      for (size_t k = 0; k < terms; k += kInnerBlock) {
        part.inner = std::min(kInnerBlock, terms - k);
        mul_add_many({c.data + t * shape.c_step + j, c.stride}, {a.data + t * shape.a_step + k, a.stride},
                     {b.row(k) + j, b.stride}, part);
      }
    }
  }
  ProductShape rest = shape;
  rest.inner -= terms;
  for (size_t t = 0; t < shape.count && rest.inner > 0; ++t) {
    mul_add_few({c.data + t * shape.c_step, c.stride}, {a.data + t * shape.a_step + terms, a.stride},
                {b.row(terms), b.stride}, rest);
  }
}

/// Computes any number of rows: blocks of kRows, then the few that are left.
void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  if (shape.rows == kRows) return mul_add_blocks(c, a, b, shape);
  const size_t blocks = shape.rows / kRows;
  ProductShape rest = shape;
  rest.rows -= blocks * kRows;
  for (size_t t = 0; t < shape.count; ++t) {
    const Matrix16 to{c.data + t * shape.c_step, c.stride};
    const ConstMatrix16 from{a.data + t * shape.a_step, a.stride};
    mul_add_blocks(to, from, b, {kRows, shape.inner, shape.columns, blocks, kRows * c.stride, kRows * a.stride});
    mul_add_few({to.row(blocks * kRows), c.stride}, {from.row(blocks * kRows), a.stride}, b, rest);
  }
}

void mul_add_transposed_for_this_cpu(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  kCpuByIntel ? mul_add_transposed<false>(c, a, b_transposed, shape)
              : mul_add_transposed<true>(c, a, b_transposed, shape);
}

}  // namespace

const MatMulFunctions kMatMulAvx512 = {mul_add, mul_add_transposed_for_this_cpu};
const MatMulForms kMatMulFormsAvx512 = {{mul_add, mul_add_transposed<true>}, {mul_add, mul_add_transposed<false>}};

}  // namespace polykem
