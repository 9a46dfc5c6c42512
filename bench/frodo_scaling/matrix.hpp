// SPDX-License-Identifier: Apache-2.0
// Matrices on the host and the time of one core, for all benchmarks of FrodoKEM's expensive parts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem::bench {

/// A matrix whose rows begin at cache lines.
class Matrix {
 public:
  Matrix(size_t rows, size_t columns)
      : rows_(rows), columns_(columns), stride_((columns + 31) / 32 * 32), words_(allocate(rows * stride_)) {
    clear();
  }
  Matrix16 view() const { return {words_.get(), stride_}; }
  Matrix16 from_row(size_t row) const { return {view().row(row), stride_}; }
  void clear() { std::memset(words_.get(), 0, rows_ * stride_ * sizeof(uint16_t)); }
  bool operator==(const Matrix& other) const {
    return same_rows([&](size_t i) { return other.view().row(i); });
  }
  /// Returns whether the matrix equals words that are stored without gaps.
  bool equals(const std::vector<uint16_t>& words) const {
    return same_rows([&](size_t i) { return words.data() + i * columns_; });
  }
  template <class Next>
  void fill(Next next) {
    for (size_t i = 0; i < rows_; ++i)
      std::generate_n(view().row(i), columns_, next);
  }
  Matrix transposed() const {
    Matrix out(columns_, rows_);
    for (size_t i = 0; i < rows_; ++i) {
      for (size_t j = 0; j < columns_; ++j)
        out.view().row(j)[i] = view().row(i)[j];
    }
    return out;
  }

 private:
  struct Free {
    void operator()(uint16_t* words) const { std::free(words); }
  };
  static uint16_t* allocate(size_t words) {
    void* memory = std::aligned_alloc(64, words * sizeof(uint16_t));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<uint16_t*>(memory);
  }
  template <class Row>
  bool same_rows(Row row_of) const {
    for (size_t i = 0; i < rows_; ++i) {
      if (std::memcmp(view().row(i), row_of(i), columns_ * sizeof(uint16_t)) != 0) return false;
    }
    return true;
  }

  size_t rows_, columns_, stride_;
  std::unique_ptr<uint16_t[], Free> words_;
};

/// Returns the best time of runs that take `seconds` together, at least one.
template <class F>
double best_milliseconds(double seconds, F&& run) {
  double best = std::numeric_limits<double>::infinity(), sum = 0;
  do {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::min(best, time);
    sum += time;
  } while (sum < seconds);
  return best * 1e3;
}

}  // namespace polykem::bench
