// SPDX-License-Identifier: Apache-2.0
#include "schoolbook.hpp"

#include "parallel.hpp"

namespace polykem::lab {

namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define POLYKEM_LAB_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define POLYKEM_LAB_CLONES
#endif

template <class Word>
Word signed_word(uint16_t word, bool is_signed) {
  return is_signed ? static_cast<Word>(static_cast<int16_t>(word)) : Word{word};
}

/// The number of multiples that are added in one pass over the sums.
constexpr size_t kAtOnce = 4;

/// A multiple to be added to sums: factor times `count` words.
template <class Word>
struct Multiples {
  const Word* words[kAtOnce];
  Word factors[kAtOnce];
};

/// Sums are modulo the size of a word.
template <class Word>
[[gnu::always_inline]] inline void add_all(Word* sums, const Multiples<Word>& m, size_t count) {
  const Word *const a = m.words[0], *const b = m.words[1], *const c = m.words[2], *const d = m.words[3];
  const uint32_t f = m.factors[0], g = m.factors[1], h = m.factors[2], k = m.factors[3];
  for (size_t i = 0; i < count; ++i)
    sums[i] = static_cast<Word>(sums[i] + f * a[i] + g * b[i] + h * c[i] + k * d[i]);
}
POLYKEM_LAB_CLONES void add_multiples(uint32_t* sums, const Multiples<uint32_t>& m, size_t count) {
  add_all(sums, m, count);
}
POLYKEM_LAB_CLONES void add_multiples(uint16_t* sums, const Multiples<uint16_t>& m, size_t count) {
  add_all(sums, m, count);
}

/// Adds b[row][i] times the n words at line(i) to the sums of each row, for all i.
template <class Word, class Line>
void add_products(const Problem& problem, std::vector<Word>& sums, const uint16_t* b, Line line) {
  const size_t n = problem.n;
  for (size_t i = 0; i < n; i += kAtOnce) {
    for (size_t row = 0; row < problem.rows; ++row) {
      Multiples<Word> m;
      for (size_t j = 0; j < kAtOnce; ++j) {
        m.words[j] = line(std::min(i + j, n - 1));
        m.factors[j] = i + j < n ? signed_word<Word>(b[row * n + i + j], problem.b_bound != 0) : Word{0};
      }
      add_multiples(&sums[row * n], m, n);
    }
  }
}

void multiply_matrix(const Problem& problem, const uint16_t* a, const uint16_t* b, std::vector<uint16_t>& sums) {
  add_products(problem, sums, b, [&](size_t i) { return a + i * problem.n; });
}

void multiply_matrix(const Problem& problem, const uint16_t* a, const uint16_t* b, std::vector<uint32_t>& sums) {
  const std::vector<uint32_t> wide(a, a + problem.n * problem.n);
  add_products(problem, sums, b, [&](size_t i) { return &wide[i * problem.n]; });
}

template <class Word>
void multiply_ring(const Problem& problem, const uint16_t* a, const uint16_t* b, std::vector<Word>& sums) {
  const size_t n = problem.n;
  std::vector<Word> twice(2 * n);  // -a or a, then a: coefficient k of a x^i is twice[n + k - i]
  for (size_t i = 0; i < n; ++i) {
    twice[i] = static_cast<Word>(problem.shape == Shape::kNegacyclic ? 0u - a[i] : a[i]);
    twice[n + i] = a[i];
  }
  add_products(problem, sums, b, [&](size_t i) { return &twice[n - i]; });
}

template <class Word>
void multiply(const Problem& problem, const uint16_t* a, const uint16_t* b, std::vector<Word>& sums) {
  if (problem.shape == Shape::kMatrix) {
    multiply_matrix(problem, a, b, sums);
  } else {
    multiply_ring(problem, a, b, sums);
  }
}

/// Computes modulo 2^16, of which q is a divisor.
void multiply_words(const Problem& problem, const uint16_t* a, const uint16_t* b, uint16_t* c) {
  std::vector<uint16_t> sums(problem.c_words());
  multiply(problem, a, b, sums);
  const uint32_t last = problem.modulo_phi ? sums[problem.n - 1] : 0;
  for (size_t i = 0; i < sums.size(); ++i)
    c[i] = static_cast<uint16_t>((sums[i] - last) & (problem.q - 1));
}

/// Any other q is so small that sums fit into 32 bits.
void multiply_sums(const Problem& problem, const uint16_t* a, const uint16_t* b, uint16_t* c) {
  std::vector<uint32_t> sums(problem.c_words());
  multiply(problem, a, b, sums);
  const auto q = static_cast<int32_t>(problem.q);
  const uint32_t last = problem.modulo_phi ? sums[problem.n - 1] : 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int32_t rest = static_cast<int32_t>(sums[i] - last) % q;
    c[i] = static_cast<uint16_t>(rest < 0 ? rest + q : rest);
  }
}

}  // namespace

void schoolbook(const Problem& problem, const uint16_t* a, const uint16_t* b, uint16_t* c) {
  problem.power_of_two() ? multiply_words(problem, a, b, c) : multiply_sums(problem, a, b, c);
}

void schoolbook(const Operands& operands, uint16_t* c) {
  const size_t words = operands.problem.c_words();
  in_parallel(operands.items,
              [&](size_t i) { schoolbook(operands.problem, operands.a_of(i), operands.b_of(i), c + i * words); });
}

}  // namespace polykem::lab
