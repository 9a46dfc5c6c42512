// SPDX-License-Identifier: Apache-2.0
// CKKS on a GPU: plain functions on device pointers and a stream, which allocate nothing and return the launch's error.
//
// A polynomial is a row of N words a limb, a batch lies as [ciphertext][part][limb][N]; words are residues in [0, q).
// Evaluation form: x[i] = a(psi^(2 rev(i) + 1)), rev: the reversed log2 N bits. N = 2^12 .. 2^16; everything exists for
// uint32_t (primes below 2^31) and uint64_t (below 2^61).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "ckks/cuda/tables.hpp"

namespace polykem::ckks::cuda {

/// How a transform is computed.
enum class Form {
  one_block,      ///< butterflies, one pass, a block a row
  cluster2,       ///< the same, a row in the shared memories of two blocks
  cluster4,
  cluster8,
  two_pass,       ///< butterflies, two passes through global memory
  imma_256x256,   ///< int8 tensor cores, bytes split, two products with 256 x 256 matrices through global memory
  imma_64x32x32,  ///< int8 tensor cores, three products in one pass, clusters
  imma_16,        ///< the same with four products with 16 x 16 matrices
};
inline constexpr Form kForms[] = {Form::one_block, Form::cluster2,     Form::cluster4,      Form::cluster8,
                                  Form::two_pass,  Form::imma_256x256, Form::imma_64x32x32, Form::imma_16};
enum class Direction { forward, inverse };

const char* name_of(Form form);
/// Whether there is such a transform of 2^log_n words of so many bytes.
bool supports(Form form, int log_n, size_t word_bytes);
/// The form that all other operations use.
Form production_form(int log_n, size_t word_bytes);

/// Transforms rows in place; cudaErrorInvalidValue for a form that there is not.
template <class Word>
cudaError_t ntt(Form form, Direction direction, Word* data, size_t rows, const RowMap& map,
                const Tables<Word>& tables, cudaStream_t stream);

}  // namespace polykem::ckks::cuda
