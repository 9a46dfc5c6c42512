// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/elementwise.cuh"

#include "ckks/src/cuda/kernels.hpp"
#include "ckks/src/cuda/launch.hpp"

namespace polykem::ckks::cuda {

namespace {

template <class Word>
size_t blocks_of(size_t rows, int log_n) {
  return rows << (log_n - 8 - (sizeof(Word) == 4 ? 2 : 1));
}

template <class Op, int kPolynomials = 1, class Word>
cudaError_t elementwise(Word* out, const Word* a, const Word* b, size_t rows, size_t a_per_b, const RowMap& map,
                        const Tables<Word>& tables, cudaStream_t stream) {
  return launch(elementwise_kernel<Op, kPolynomials, Word>, blocks_of<Word>(rows / kPolynomials, tables.log_n),
                kElementThreads, 1, 0, stream, out, a, b, static_cast<unsigned>(a_per_b), map, tables);
}

/// Computes both parts of a ciphertext at once, where the plaintexts are for whole ciphertexts.
template <class Op, class Word>
cudaError_t with_plain(Word* out, const Word* a, const Word* plain, size_t rows, size_t rows_per_plain,
                       const RowMap& map, const Tables<Word>& tables, cudaStream_t stream) {
  const size_t pair = size_t{2} * map.count;
  if (rows % pair == 0 && rows_per_plain % pair == 0)
    return elementwise<Op, 2>(out, a, plain, rows, rows_per_plain, map, tables, stream);
  return elementwise<Op>(out, a, plain, rows, rows_per_plain, map, tables, stream);
}

template <int kDigits, class Word>
cudaError_t key_products(const KeyProduct<Word>& job, const KeySwitchRows& rows, const Tables<Word>& tables,
                         cudaStream_t stream) {
  const size_t groups = (job.ciphertexts + kKeyCiphertexts - 1) / kKeyCiphertexts;
  return launch(key_product_kernel<Word, kDigits>, blocks_of<Word>(groups * rows.map.count, tables.log_n),
                kElementThreads, 1, 0, stream, job, rows.map, rows.key_limb, tables);
}

}  // namespace

cudaError_t find_machine_code() {
  cudaFuncAttributes attributes;
  const auto kernel = reinterpret_cast<const void*>(elementwise_kernel<AddWords, 1, uint32_t>);
  const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error;
}

template <class Word>
cudaError_t add(Word* out, const Word* a, const Word* b, size_t rows, const RowMap& map, const Tables<Word>& tables,
                cudaStream_t stream) {
  return elementwise<AddWords>(out, a, b, rows, map.count, map, tables, stream);
}

template <class Word>
cudaError_t subtract(Word* out, const Word* a, const Word* b, size_t rows, const RowMap& map,
                     const Tables<Word>& tables, cudaStream_t stream) {
  return elementwise<SubtractWords>(out, a, b, rows, map.count, map, tables, stream);
}

template <class Word>
cudaError_t negate(Word* out, const Word* a, size_t rows, const RowMap& map, const Tables<Word>& tables,
                   cudaStream_t stream) {
  return elementwise<NegateWords>(out, a, a, rows, map.count, map, tables, stream);
}

template <class Word>
cudaError_t multiply_plain(Word* out, const Word* a, const Word* plain, size_t rows, size_t rows_per_plain,
                           const RowMap& map, const Tables<Word>& tables, cudaStream_t stream) {
  return with_plain<MultiplyWords>(out, a, plain, rows, rows_per_plain, map, tables, stream);
}

template <class Word>
cudaError_t add_plain(Word* out, const Word* a, const Word* plain, size_t rows, size_t rows_per_plain,
                      const RowMap& map, const Tables<Word>& tables, cudaStream_t stream) {
  return with_plain<AddWords>(out, a, plain, rows, rows_per_plain, map, tables, stream);
}

template <class Word>
cudaError_t tensor(Word* out, const Word* a, const Word* b, size_t ciphertexts, const RowMap& map,
                   const Tables<Word>& tables, cudaStream_t stream) {
  return launch(tensor_kernel<Word>, blocks_of<Word>(ciphertexts * map.count, tables.log_n), kElementThreads, 1, 0,
                stream, out, a, b, map, tables);
}

template <class Word>
cudaError_t key_product(Word* out, const Word* digits, const Word* own, size_t own_parts, const Word* keys,
                        size_t ciphertexts, const KeySwitchRows& rows, const Tables<Word>& tables,
                        cudaStream_t stream) {
  KeyProduct<Word> job{out,
                       digits,
                       own,
                       keys,
                       static_cast<unsigned>(ciphertexts),
                       0,
                       rows.digits,
                       rows.digit_limbs,
                       rows.limbs,
                       static_cast<unsigned>(own_parts),
                       rows.key_limbs,
                       false};
  cudaError_t error = cudaSuccess;
  while (error == cudaSuccess && job.first_digit < rows.digits) {
    const unsigned count = rows.digits - job.first_digit;
    switch (count) {
      case 1:
        error = key_products<1>(job, rows, tables, stream);
        break;
      case 2:
        error = key_products<2>(job, rows, tables, stream);
        break;
      case 3:
        error = key_products<3>(job, rows, tables, stream);
        break;
      default:
        error = key_products<kKeyDigits>(job, rows, tables, stream);
    }
    job.first_digit += kKeyDigits;
    job.accumulate = true;
  }
  return error;
}

template <class Word>
cudaError_t automorphism(Word* out, const Word* a, uint32_t exponent, size_t rows, const RowMap& map, int log_n,
                         cudaStream_t stream) {
  if (exponent % 2 == 0 || out == a) return cudaErrorInvalidValue;
  return launch(automorphism_kernel<Word>, rows << (log_n - 10), kElementThreads, 1, 0, stream, out, a, exponent, map,
                log_n);
}

#define POLYKEM_CKKS_INSTANTIATE(Word)                                                                                 \
  template cudaError_t add(Word*, const Word*, const Word*, size_t, const RowMap&, const Tables<Word>&, cudaStream_t); \
  template cudaError_t subtract(Word*, const Word*, const Word*, size_t, const RowMap&, const Tables<Word>&,           \
                                cudaStream_t);                                                                         \
  template cudaError_t negate(Word*, const Word*, size_t, const RowMap&, const Tables<Word>&, cudaStream_t);           \
  template cudaError_t multiply_plain(Word*, const Word*, const Word*, size_t, size_t, const RowMap&,                  \
                                      const Tables<Word>&, cudaStream_t);                                              \
  template cudaError_t add_plain(Word*, const Word*, const Word*, size_t, size_t, const RowMap&, const Tables<Word>&,  \
                                 cudaStream_t);                                                                        \
  template cudaError_t tensor(Word*, const Word*, const Word*, size_t, const RowMap&, const Tables<Word>&,             \
                              cudaStream_t);                                                                           \
  template cudaError_t key_product(Word*, const Word*, const Word*, size_t, const Word*, size_t, const KeySwitchRows&, \
                                   const Tables<Word>&, cudaStream_t);                                                 \
  template cudaError_t automorphism(Word*, const Word*, uint32_t, size_t, const RowMap&, int, cudaStream_t)
POLYKEM_CKKS_INSTANTIATE(uint32_t);
POLYKEM_CKKS_INSTANTIATE(uint64_t);

}  // namespace polykem::ckks::cuda
