// SPDX-License-Identifier: Apache-2.0
// Products of matrices over Z/2^16, of any shape.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// Files with different instruction sets share these types, so they have no functions that one file could link from
/// another.
#define POLYKEM_MATRIX_INLINE __attribute__((always_inline))

/// A matrix of 16-bit words, row i beginning at data + i * stride. No alignment is needed; 64 bytes are fastest.
struct Matrix16 {
  uint16_t* data;
  size_t stride;
  POLYKEM_MATRIX_INLINE uint16_t* row(size_t i) const { return data + i * stride; }
};
struct ConstMatrix16 {
  const uint16_t* data;
  size_t stride;
  POLYKEM_MATRIX_INLINE ConstMatrix16(const uint16_t* words, size_t words_of_row) : data(words), stride(words_of_row) {}
  POLYKEM_MATRIX_INLINE ConstMatrix16(Matrix16 m) : data(m.data), stride(m.stride) {}
  POLYKEM_MATRIX_INLINE const uint16_t* row(size_t i) const { return data + i * stride; }
};

#undef POLYKEM_MATRIX_INLINE

/// The shape of c (rows x columns) += a (rows x inner) b (inner x columns), for `count` pairs of c and a with the same
/// b: pair t begins t * c_step and t * a_step words after the first.
struct ProductShape {
  size_t rows, inner, columns;
  size_t count = 1, c_step = 0, a_step = 0;
};

/// The functions of one instruction set. All arithmetic is modulo 2^16; c overlaps neither operand. Branches and
/// addresses depend on shapes only.
struct MatMulFunctions {
  /// Computes c += a b. Suits a wide b, which is read along its rows.
  void (*mul_add)(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape);
  /// Computes c += a b with b given as its transpose (columns x inner). Suits a narrow b: dot products along the rows
  /// of both.
  void (*mul_add_transposed)(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape);
};

extern const MatMulFunctions kMatMulPortable;
extern const MatMulFunctions kMatMulAvx2;
extern const MatMulFunctions kMatMulAvx512;
extern const MatMulFunctions kMatMulNeon;

/// Both forms of kMatMulAvx512, which takes the one that suits the CPU: dot products with half of the multiplications,
/// and with all of them.
struct MatMulForms {
  MatMulFunctions saving, plain;
};
extern const MatMulForms kMatMulFormsAvx512;

}  // namespace polykem
