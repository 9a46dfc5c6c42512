// SPDX-License-Identifier: Apache-2.0
#include "ckks/cuda/basis.cuh"

#include <algorithm>
#include <type_traits>

#include "ckks/cuda/kernels.hpp"
#include "ckks/cuda/ntt_launch.hpp"

namespace polykem::ckks::cuda {

namespace {

constexpr unsigned kMostImmaSources = 32;

template <int kSteps>
cudaError_t convert_imma(const ConversionPlace<uint32_t>& place, size_t polynomials,
                         const Conversion<uint32_t>& conversion, const Tables<uint32_t>& tables, cudaStream_t stream) {
  return launch(convert_imma_kernel<kSteps>, polynomials << (tables.log_n - 8), kConvertWarps * kWarp, 1, 0, stream,
                place, conversion, tables);
}

/// Tensor cores where they are asked for and can do it: 32-bit words, not too many sources.
template <class Word>
cudaError_t convert(Unit unit, const ConversionPlace<Word>& place, size_t polynomials,
                    const Conversion<Word>& conversion, const Tables<Word>& tables, cudaStream_t stream) {
  if constexpr (std::is_same_v<Word, uint32_t>) {
    if (unit == Unit::imma && conversion.sources <= kMostImmaSources) {
      switch ((conversion.sources + 7) / 8) {
        case 1:
          return convert_imma<1>(place, polynomials, conversion, tables, stream);
        case 2:
          return convert_imma<2>(place, polynomials, conversion, tables, stream);
        case 3:
          return convert_imma<3>(place, polynomials, conversion, tables, stream);
        default:
          return convert_imma<4>(place, polynomials, conversion, tables, stream);
      }
    }
  }
  return launch(convert_kernel<Word>, polynomials << (tables.log_n - 7), kConvertThreads, 1,
                conversion.sources * kConvertThreads * sizeof(Word), stream, place, conversion, tables);
}

/// The transform of what mod_down converted, and what remains to be done with it.
template <class Word>
struct ModDownRows {
  const Word *converted, *in;
  Word* out;
  Addend<Word> addend;
  const Factor<Word>* inverse_special;
  unsigned limbs, all_rows;
  int log_n;
  RowMap map;

  __device__ __forceinline__ unsigned prime(unsigned row) const { return map.prime[row % limbs]; }
  __device__ __forceinline__ Word load(unsigned row, unsigned, size_t i) const {
    return converted[(size_t{row} << log_n) + i];
  }
  __device__ __forceinline__ void store(unsigned row, unsigned q, size_t i, const Vector<Word>& x) const {
    const unsigned polynomial = row / limbs, limb = row % limbs, part = polynomial % 2;
    const Factor<Word> factor = inverse_special[limb];
    const auto at = [&](size_t r) { return (r << log_n) + i; };
    const Vector<Word> whole = load_vector(in + at(size_t{polynomial} * all_rows + limb));
    Vector<Word> result =
        make_vector<Word>([&](int j) { return multiply(whole.at[j] - x.at[j] + modulus[q].q, factor, modulus[q].q); });
    if (part < addend.used) {
      const size_t polynomial_of_addend = size_t{polynomial / 2} * addend.parts + part;
      const Vector<Word> more = load_vector(addend.words + at(polynomial_of_addend * limbs + limb));
      result = make_vector<Word>([&](int j) { return subtract_once(result.at[j] + more.at[j], modulus[q].q); });
    }
    store_vector(out + at(row), result);
  }
  const Prime<Word>* modulus;
};

/// The coefficients of some rows of an array: of `count` neighbouring rows from `first` on in each `stride`.
template <class Word>
struct CoefficientRows {
  const Word* in;
  Word* out;
  unsigned stride, first, count;
  int log_n;
  RowMap map;

  __device__ __forceinline__ unsigned prime(unsigned row) const { return map.prime[first % map.count + row % count]; }
  __device__ __forceinline__ Vector<Word> load(unsigned row, unsigned, size_t i) const {
    return load_vector(in + ((size_t{row / count} * stride + first + row % count) << log_n) + i);
  }
  __device__ __forceinline__ void store(unsigned row, unsigned, size_t i, Word x) const {
    out[(size_t{row} << log_n) + i] = x;
  }
  __device__ __forceinline__ Factor<Word> scale(unsigned, unsigned number, const Tables<Word>& tables) const {
    return tables.primes[number].inverse_n;
  }
};

/// The last limb, centred, modulo each other prime; and what remains to be done with its transform.
template <class Word>
struct RescaleRows {
  const Word *last, *in;
  Word* out;
  const Factor<Word>* inverse_last;
  const Prime<Word>* modulus;
  unsigned limbs, last_prime;
  int log_n;
  RowMap map;

  __device__ __forceinline__ unsigned prime(unsigned row) const { return map.prime[row % (limbs - 1)]; }
  __device__ __forceinline__ Word load(unsigned row, unsigned number, size_t i) const {
    const Prime<Word> prime = modulus[number];
    const Word q_last = modulus[last_prime].q, r = last[(size_t{row / (limbs - 1)} << log_n) + i];
    const Word residue = reduce_word(r, prime), multiple = reduce_word(q_last, prime);
    return residue + (r > q_last / 2 ? prime.q - multiple : 0);
  }
  __device__ __forceinline__ void store(unsigned row, unsigned number, size_t i, const Vector<Word>& x) const {
    const unsigned polynomial = row / (limbs - 1), limb = row % (limbs - 1);
    const Factor<Word> factor = inverse_last[limb];
    const Word q = modulus[number].q;
    const Vector<Word> whole = load_vector(in + ((size_t{polynomial} * limbs + limb) << log_n) + i);
    store_vector(out + (size_t{row} << log_n) + i,
                 make_vector<Word>([&](int j) { return multiply(whole.at[j] - x.at[j] + q, factor, q); }));
  }
};

}  // namespace

template <class Word>
cudaError_t mod_up(Unit unit, Word* digits, const Word* in, size_t parts, Word* scratch, size_t ciphertexts,
                   const KeySwitch<Word>& keys, const Tables<Word>& tables, cudaStream_t stream) {
  const KeySwitchRows& rows = keys.rows;
  const uint32_t all = rows.map.count;
  if (size_t{rows.digits} * all > RowMap::kMost) return cudaErrorInvalidValue;
  RowMap limbs = rows.map;
  limbs.count = rows.limbs;
  const auto stride = static_cast<unsigned>(parts * rows.limbs);
  const CoefficientRows<Word> last_part{in, scratch, stride, stride - rows.limbs, rows.limbs, tables.log_n, limbs};
  cudaError_t error = launch_ntt<Word, true>(last_part, ciphertexts * rows.limbs, tables, stream);
  RowMap others;  // of all digits, without their own limbs
  others.count = rows.digits * all;
  for (uint32_t digit = 0; digit < rows.digits && error == cudaSuccess; ++digit) {
    std::copy_n(keys.up[digit].targets.prime, all, others.prime + digit * all);
    const ConversionPlace<Word> place{scratch,           digits,     rows.limbs, digit * rows.digit_limbs,
                                      rows.digits * all, digit * all};
    error = convert(unit, place, ciphertexts, keys.up[digit], tables, stream);
  }
  if (error != cudaSuccess) return error;
  const RowsInPlace<Word> in_place{digits, tables.log_n, others};
  return launch_ntt<Word, false>(ForwardInPlace<Word>{in_place}, ciphertexts * others.count, tables, stream);
}

template <class Word>
cudaError_t mod_down(Unit unit, Word* out, Word* in, Word* scratch, const Addend<Word>& addend, size_t ciphertexts,
                     const KeySwitch<Word>& keys, const Tables<Word>& tables, cudaStream_t stream) {
  const KeySwitchRows& rows = keys.rows;
  RowMap special = rows.map;
  for (uint32_t limb = 0; limb < rows.limbs; ++limb)
    special.prime[limb] = RowMap::kSkip;
  const RowsInPlace<Word> in_place{in, tables.log_n, special};
  cudaError_t error =
      launch_ntt<Word, true>(InverseInPlace<Word>{in_place}, ciphertexts * 2 * special.count, tables, stream);
  if (error != cudaSuccess) return error;
  const ConversionPlace<Word> place{in, scratch, special.count, rows.limbs, rows.limbs, 0};
  error = convert(unit, place, ciphertexts * 2, *keys.down, tables, stream);
  if (error != cudaSuccess) return error;
  const ModDownRows<Word> job{scratch,        in,           out,      addend,       keys.inverse_special, rows.limbs,
                              rows.map.count, tables.log_n, rows.map, tables.primes};
  return launch_ntt<Word, false>(job, ciphertexts * 2 * rows.limbs, tables, stream);
}

template <class Word>
cudaError_t rescale(Word* out, const Word* in, Word* scratch, size_t polynomials, const RowMap& map,
                    const Factor<Word>* inverse_last, const Tables<Word>& tables, cudaStream_t stream) {
  if (map.count < 2) return cudaErrorInvalidValue;
  const unsigned last_prime = map.prime[map.count - 1];
  const CoefficientRows<Word> last{in, scratch, map.count, map.count - 1, 1, tables.log_n, map};
  const cudaError_t error = launch_ntt<Word, true>(last, polynomials, tables, stream);
  if (error != cudaSuccess) return error;
  const RescaleRows<Word> job{scratch, in, out, inverse_last, tables.primes, map.count, last_prime, tables.log_n, map};
  return launch_ntt<Word, false>(job, polynomials * (map.count - 1), tables, stream);
}

#define POLYKEM_CKKS_INSTANTIATE(Word)                                                                          \
  template cudaError_t mod_up(Unit, Word*, const Word*, size_t, Word*, size_t, const KeySwitch<Word>&,          \
                              const Tables<Word>&, cudaStream_t);                                               \
  template cudaError_t mod_down(Unit, Word*, Word*, Word*, const Addend<Word>&, size_t, const KeySwitch<Word>&, \
                                const Tables<Word>&, cudaStream_t);                                             \
  template cudaError_t rescale(Word*, const Word*, Word*, size_t, const RowMap&, const Factor<Word>*,           \
                               const Tables<Word>&, cudaStream_t)
POLYKEM_CKKS_INSTANTIATE(uint32_t);
POLYKEM_CKKS_INSTANTIATE(uint64_t);

}  // namespace polykem::ckks::cuda
