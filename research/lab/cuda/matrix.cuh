// SPDX-License-Identifier: Apache-2.0
// Matrices on the GPU, in rows without gaps: n x n words of A, rows x n bytes of S', the product in words.
#pragma once

#include "kernel_job.cuh"

namespace polykem::lab {

struct MatrixArgs {
  const uint16_t* a;
  const int8_t* s;
  uint16_t* c;
  size_t a_stride;         ///< words from an item's A to the next one's; 0: one A for all
  uint32_t n, rows, mask;  ///< rows: those of all items with the same A
};

/// Returns whether n allows copies of 16 bytes.
inline bool is_matrix(const Problem& problem) {
  return problem.shape == Shape::kMatrix && problem.power_of_two() && problem.n % 16 == 0 && problem.b_bound < 128 &&
         problem.b_bound > 0;
}

inline double matrix_bytes(const Problem& problem, Sharing sharing) {
  const auto n = static_cast<double>(problem.n), rows = static_cast<double>(problem.rows);
  return (sharing == Sharing::kA ? 0 : 2 * n * n) + rows * n * ((sharing == Sharing::kB ? 0 : 1) + 2);
}

/// The operands of a batch; each item has its own S'.
class MatrixRows : public KernelJob {
 public:
  explicit MatrixRows(const Operands& operands)
      : n_(operands.problem.n),
        rows_(operands.problem.rows * operands.items),
        a_(upload_rows<uint16_t>(operands.a, copies_of_a(operands) * n_, n_, n_)),
        s_(upload_rows<int8_t>(operands.b, rows_, n_, n_)),
        c_(rows_ * n_),
        args{a_.data,
             s_.data,
             c_.data,
             operands.sharing == Sharing::kA ? 0 : n_ * n_,
             static_cast<uint32_t>(n_),
             static_cast<uint32_t>(operands.sharing == Sharing::kA ? rows_ : operands.problem.rows),
             operands.problem.q - 1} {}
  void read(uint16_t* c) override { download_rows(c, c_, rows_, n_, n_); }

 private:
  size_t n_, rows_;
  DeviceArray<uint16_t> a_;
  DeviceArray<int8_t> s_;
  DeviceArray<uint16_t> c_;

 protected:
  MatrixArgs args;
};

}  // namespace polykem::lab
