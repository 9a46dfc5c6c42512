// SPDX-License-Identifier: Apache-2.0
// CKKS on a GPU: plain functions on device pointers and a stream, which allocate nothing and return the launch's error.
//
// A polynomial is a row of N words for each limb; a batch lies as [ciphertext][part][limb][N]; words are residues in
// [0, q). Evaluation form: x[i] = a(psi^(2 rev(i) + 1)), where rev reverses the log2 N bits. N = 2^12 .. 2^16;
// everything exists for uint32_t (primes below 2^31) and uint64_t (below 2^61).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "ckks/src/cuda/basis.hpp"
#include "ckks/src/cuda/tables.hpp"

namespace polykem::ckks::cuda {

/// The algorithm that computes a transform.
enum class Form {
  kOneBlock,  ///< butterflies, one pass, a block a row
  kCluster2,  ///< butterflies, one pass, a row in the shared memories of two blocks
  kCluster4,
  kCluster8,
  kTwoPass,       ///< butterflies, two passes through global memory
  kImma256x256,   ///< int8 tensor cores, bytes split, two products with 256 x 256 matrices through global memory
  kImma64x32x32,  ///< int8 tensor cores, three products in one pass, clusters
  kImma16,        ///< int8 tensor cores, four products with 16 x 16 matrices in one pass, clusters
};
inline constexpr Form kForms[] = {Form::kOneBlock, Form::kCluster2,    Form::kCluster4,     Form::kCluster8,
                                  Form::kTwoPass,  Form::kImma256x256, Form::kImma64x32x32, Form::kImma16};
enum class Direction { kForward, kInverse };

const char* name_of(Form form);
/// Returns whether there is such a transform of 2^log_n words of `word_bytes` bytes.
bool supports(Form form, int log_n, size_t word_bytes);
/// Returns the form that all other operations use.
Form production_form(int log_n, size_t word_bytes);

/// Transforms rows in place. Returns cudaErrorInvalidValue for a form that does not exist.
template <class Word>
cudaError_t ntt(Form form, Direction direction, Word* data, size_t rows, const RowMap& map, const Tables<Word>& tables,
                cudaStream_t stream);

/// Transforms in the forms on tensor cores; ntt calls it too. Returns cudaErrorInvalidValue without their tables.
cudaError_t ntt_imma(Form form, Direction direction, uint32_t* data, size_t rows, const RowMap& map,
                     const Tables<uint32_t>& tables, cudaStream_t stream);

/// Loads the code for the current device. Returns the driver's error if there is none.
cudaError_t find_machine_code();

/// Compute out = a + b, a - b, -a. out may be a or b. All three have `rows` rows.
template <class Word>
cudaError_t add(Word* out, const Word* a, const Word* b, size_t rows, const RowMap& map, const Tables<Word>& tables,
                cudaStream_t stream);
template <class Word>
cudaError_t subtract(Word* out, const Word* a, const Word* b, size_t rows, const RowMap& map,
                     const Tables<Word>& tables, cudaStream_t stream);
template <class Word>
cudaError_t negate(Word* out, const Word* a, size_t rows, const RowMap& map, const Tables<Word>& tables,
                   cudaStream_t stream);

/// Compute out = a + plain, a plain, where a plaintext is one polynomial and goes with `rows_per_plain` rows of a: all
/// of them, or those of one ciphertext.
template <class Word>
cudaError_t add_plain(Word* out, const Word* a, const Word* plain, size_t rows, size_t rows_per_plain,
                      const RowMap& map, const Tables<Word>& tables, cudaStream_t stream);
template <class Word>
cudaError_t multiply_plain(Word* out, const Word* a, const Word* plain, size_t rows, size_t rows_per_plain,
                           const RowMap& map, const Tables<Word>& tables, cudaStream_t stream);

/// Computes the three parts of the products of ciphertexts of two parts.
template <class Word>
cudaError_t tensor(Word* out, const Word* a, const Word* b, size_t ciphertexts, const RowMap& map,
                   const Tables<Word>& tables, cudaStream_t stream);

/// Computes a(X^exponent) of rows in evaluation form. exponent is odd; out is not a.
template <class Word>
cudaError_t automorphism(Word* out, const Word* a, uint32_t exponent, size_t rows, const RowMap& map, int log_n,
                         cudaStream_t stream);

/// The rows of hybrid key switching of ciphertexts with `limbs` limbs of Q. Digit j has the limbs [j digit_limbs, (j +
/// 1) digit_limbs), and `map` has the primes of the limbs and of P behind them.
struct KeySwitchRows {
  RowMap map;
  RowMap key_limb;  ///< the limb of the keys that goes with each row of `map`
  uint32_t limbs, digits, digit_limbs, key_limbs;
};

template <class Word>
struct KeySwitch {
  KeySwitchRows rows;
  const Conversion<Word>* up;           ///< one for each digit, in host memory
  const Conversion<Word>* down;         ///< from P to the limbs of Q, in host memory
  const Factor<Word>* inverse_special;  ///< 1 / P modulo the primes of Q, in device memory
};

enum class Unit { kInteger, kImma };

/// Computes digits[ciphertext][digit][row of `map`][N] of the last part of in[ciphertext][parts][limb][N], all in
/// evaluation form. The limbs that a digit is made of are not written: key_product takes them from `in`.
/// scratch: [ciphertext][limb][N].
template <class Word>
cudaError_t mod_up(Unit unit, Word* digits, const Word* in, size_t parts, Word* scratch, size_t ciphertexts,
                   const KeySwitch<Word>& keys, const Tables<Word>& tables, cudaStream_t stream);

/// Computes out[ciphertext][2][row of `map`][N] = sum over digits of digit times key. A digit's own limbs are those of
/// the last part of own[ciphertext][own_parts][limb][N]; with own == nullptr they too are in `digits`.
/// keys: [digit][part][limb of the keys][N]; their words are read once for several ciphertexts.
template <class Word>
cudaError_t key_product(Word* out, const Word* digits, const Word* own, size_t own_parts, const Word* keys,
                        size_t ciphertexts, const KeySwitchRows& rows, const Tables<Word>& tables, cudaStream_t stream);

/// The parts of ciphertexts that mod_down adds to its results: the first `used` of words[ciphertext][parts][limb][N].
template <class Word>
struct Addend {
  const Word* words = nullptr;
  uint32_t parts = 0, used = 0;
};

/// Computes out[ciphertext][2][limb][N] = in / P + addend, of in[ciphertext][2][row of `map`][N], all in evaluation
/// form. The rows of P of `in` are overwritten. scratch: as large as out, and not out itself.
template <class Word>
cudaError_t mod_down(Unit unit, Word* out, Word* in, Word* scratch, const Addend<Word>& addend, size_t ciphertexts,
                     const KeySwitch<Word>& keys, const Tables<Word>& tables, cudaStream_t stream);

/// Computes out[polynomial][limb][N], which is in[polynomial][limb][N] without its last limb, divided by the last
/// prime: r, the last limb in (-q/2, q/2), is subtracted first. inverse_last: 1 / that prime modulo each other prime,
/// in device memory. scratch: N words for each polynomial.
template <class Word>
cudaError_t rescale(Word* out, const Word* in, Word* scratch, size_t polynomials, const RowMap& map,
                    const Factor<Word>* inverse_last, const Tables<Word>& tables, cudaStream_t stream);

}  // namespace polykem::ckks::cuda
