// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the CPU on rows, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ckks/src/modulus.hpp"

namespace polykem::ckks {

/// The most products that are summed.
inline constexpr size_t kMaxTerms = 128;

/// The factors of a transform's butterflies: psi^bitrev(i) and their inverses, i = 0..n-1, n a power of two from 16 on.
struct NttTables {
  size_t n = 0;
  const uint64_t *roots = nullptr, *root_quotients = nullptr;
  const uint64_t *inverse_roots = nullptr, *inverse_root_quotients = nullptr;
};

/// The factors of the last layer of an inverse transform whose result is multiplied by a constant c: c / n for sums,
/// and that times the last root for differences.
struct LastLayer {
  Factor sum, difference;
};

/// A row is n words in [0, q), where q is that of the Modulus; n is a power of two from 16 on, rows may have any
/// alignment. `out` may be one of the operands, but must not overlap one in part.
/// Results are the same words on every instruction set. No branch and no address depends on the words.
struct RowFunctions {
  const char* name;  ///< of the instruction set
  /// Transforms in place: see Ntt::forward.
  void (*forward)(const Modulus& m, const NttTables& tables, uint64_t* a);
  /// Computes the inverse of forward, multiplied by a constant.
  void (*inverse)(const Modulus& m, const NttTables& tables, const LastLayer& last, const uint64_t* a, uint64_t* out);
  void (*add)(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out);
  void (*sub)(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out);
  /// Computes (a - b) factor.
  void (*sub_scale)(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, const Factor& factor,
                    uint64_t* out);
  /// Computes the sum of the products a_i b_i of `count` pairs of rows, at most kMaxTerms.
  void (*multiply)(const Modulus& m, size_t n, const uint64_t* const* a, const uint64_t* const* b, size_t count,
                   uint64_t* out);
  /// Computes the sum of the products a_i b_i of `count` rows, at most kMaxTerms, by constants b_i in [0, q). Row a_i
  /// is at a + i n, modulo another prime, below 2^a_bits. The sum is below 2^128.
  void (*combine)(const Modulus& m, size_t n, const uint64_t* a, unsigned a_bits, const uint64_t* b, size_t count,
                  uint64_t* out);
  /// Takes words that stand for integers in [-from / 2, from / 2] modulo the odd number `from`, below 2^61, to residues
  /// modulo q.
  void (*centre)(const Modulus& m, size_t n, const uint64_t* a, uint64_t from, uint64_t* out);
  /// Applies X -> X^g, g odd, to a row of values as `forward` leaves them. out is not a.
  void (*permute)(unsigned log_n, uint64_t g, const uint64_t* a, uint64_t* out);
};

const RowFunctions& rows_ref();
/// rows_avx2() needs the CPU features of CpuFeatures::avx2() and FMA, rows_avx512() those of CpuFeatures::avx512().
#ifdef POLYKEM_HAVE_X86
const RowFunctions& rows_avx2();
#endif
#ifdef POLYKEM_HAVE_AVX512
const RowFunctions& rows_avx512();
#endif
/// Returns the functions of the widest instruction set of this CPU.
const RowFunctions& rows();

}  // namespace polykem::ckks
