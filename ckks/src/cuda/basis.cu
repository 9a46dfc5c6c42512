// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/basis.cuh"

#include <algorithm>
#include <type_traits>

#include "ckks/src/cuda/kernels.hpp"
#include "ckks/src/cuda/ntt_launch.hpp"

namespace polykem::ckks::cuda {

namespace {

constexpr unsigned kMaxImmaSources = 32;

template <int kSteps>
cudaError_t convert_imma(const Conversions<uint32_t>& job, const Tables<uint32_t>& tables, cudaStream_t stream) {
  const size_t blocks = size_t{job.count} * job.polynomials << (tables.log_n - kLogImmaPoints);
  return launch(convert_imma_kernel<kSteps>, blocks, kConvertWarps * kWarp, 1, 0, stream, job, tables);
}

/// Returns the number of steps of eight sources on tensor cores, for 32-bit words and not too many sources, or 0 for
/// the integer units.
template <class Word>
unsigned imma_steps(Unit unit, const Conversion<Word>& conversion) {
  const bool can = std::is_same_v<Word, uint32_t> && unit == Unit::kImma && conversion.sources <= kMaxImmaSources;
  return can ? (conversion.sources + 7) / 8 : 0;
}

/// Runs conversions that all take the same number of steps.
template <class Word>
cudaError_t convert(unsigned steps, const Conversions<Word>& job, const Tables<Word>& tables, cudaStream_t stream) {
  if constexpr (std::is_same_v<Word, uint32_t>) {
    switch (steps) {
      case 1:
        return convert_imma<1>(job, tables, stream);
      case 2:
        return convert_imma<2>(job, tables, stream);
      case 3:
        return convert_imma<3>(job, tables, stream);
      case 4:
        return convert_imma<4>(job, tables, stream);
    }
  }
  unsigned sources = 0;
  for (unsigned c = 0; c < job.count; ++c)
    sources = std::max(sources, job.conversion[c].sources);
  const size_t blocks = size_t{job.count} * job.polynomials << (tables.log_n - kLogConvertThreads);
  return launch(convert_kernel<Word>, blocks, kConvertThreads, 1, sources * kConvertThreads * sizeof(Word), stream, job,
                tables);
}

/// Converts all digits, as many as possible in a launch.
template <class Word>
cudaError_t convert_digits(Unit unit, Word* digits, const Word* in, size_t ciphertexts, const KeySwitch<Word>& keys,
                           const Tables<Word>& tables, cudaStream_t stream) {
  const KeySwitchRows& rows = keys.rows;
  const uint32_t all = rows.map.count;
  for (uint32_t digit = 0; digit < rows.digits;) {
    const unsigned steps = imma_steps(unit, keys.up[digit]);
    Conversions<Word> job{in, digits, rows.limbs, rows.digits * all, static_cast<unsigned>(ciphertexts), 0, {}, {}, {}};
    for (; digit < rows.digits && job.count < kMaxConversions && imma_steps(unit, keys.up[digit]) == steps; ++digit) {
      job.in_first[job.count] = digit * rows.digit_limbs;
      job.out_first[job.count] = digit * all;
      job.conversion[job.count++] = keys.up[digit];
    }
    const cudaError_t error = convert(steps, job, tables, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

/// The rows for the transform of what mod_down converted, and for what remains to be done with it.
template <class Word>
struct ModDownRows {
  const Word *converted, *in;
  Word* out;
  Addend<Word> addend;
  const Factor<Word>* inverse_special;
  unsigned limbs, all_rows;
  int log_n;

  struct Row {
    const Word *converted, *in, *addend;
    Word* out;
    Factor<Word> factor;
    Word q;
    __device__ __forceinline__ Word load(size_t i) const { return converted[i]; }
    __device__ __forceinline__ void store(size_t i, const Vector<Word>& x) const {
      const Vector<Word> whole = load_vector(in + i);
      Vector<Word> result = make_vector<Word>([&](int j) { return multiply(whole.at[j] - x.at[j] + q, factor, q); });
      if (addend != nullptr) {
        const Vector<Word> more = load_vector(addend + i);
        result = make_vector<Word>([&](int j) { return subtract_once(result.at[j] + more.at[j], q); });
      }
      store_vector(out + i, result);
    }
  };
  __device__ __forceinline__ Row at(const RowPlace& place, const Prime<Word>& prime, const Tables<Word>&) const {
    const size_t row = size_t{place.polynomial} * limbs + place.row;
    const unsigned ciphertext = place.polynomial / 2, part = place.polynomial % 2;
    const size_t added = (size_t{ciphertext} * addend.parts + part) * limbs + place.row;
    return {converted + (row << log_n),
            in + ((size_t{place.polynomial} * all_rows + place.row) << log_n),
            part < addend.used ? addend.words + (added << log_n) : nullptr,
            out + (row << log_n),
            inverse_special[place.row],
            prime.q};
  }
};

/// The rows for the coefficients of some rows of an array: of `count` neighbouring rows from `first` on in each
/// `stride`.
template <class Word>
struct CoefficientRows {
  const Word* in;
  Word* out;
  unsigned stride, first, count;
  int log_n;

  __device__ __forceinline__ InverseRow<Word> at(const RowPlace& place, const Prime<Word>&, const Tables<Word>&) const {
    return {in + ((size_t{place.polynomial} * stride + first + place.row) << log_n),
            out + ((size_t{place.polynomial} * count + place.row) << log_n)};
  }
};

/// The rows for the last limb, centred, modulo each other prime, and for what remains to be done with its transform.
template <class Word>
struct RescaleRows {
  const Word *last, *in;
  Word* out;
  const Factor<Word>* inverse_last;
  unsigned limbs, last_prime;
  int log_n;

  struct Row {
    const Word *last, *in;
    Word* out;
    Prime<Word> prime;
    Factor<Word> factor;
    Word half, minus_last;  ///< half of the last prime, and what is added to subtract the last prime
    __device__ __forceinline__ Word load(size_t i) const {
      const Word r = last[i];
      return reduce_word(r, prime) + (r > half ? minus_last : 0);
    }
    __device__ __forceinline__ void store(size_t i, const Vector<Word>& x) const {
      const Vector<Word> whole = load_vector(in + i);
      store_vector(out + i, make_vector<Word>(
                                [&](int j) { return multiply(whole.at[j] - x.at[j] + prime.q, factor, prime.q); }));
    }
  };
  __device__ __forceinline__ Row at(const RowPlace& place, const Prime<Word>& prime, const Tables<Word>& tables) const {
    const Word q_last = tables.primes[last_prime].q;
    return {last + (size_t{place.polynomial} << log_n),
            in + ((size_t{place.polynomial} * limbs + place.row) << log_n),
            out + ((size_t{place.polynomial} * (limbs - 1) + place.row) << log_n),
            prime,
            inverse_last[place.row],
            q_last / 2,
            prime.q - reduce_word(q_last, prime)};
  }
};

}  // namespace

template <class Word>
cudaError_t mod_up(Unit unit, Word* digits, const Word* in, size_t parts, Word* scratch, size_t ciphertexts,
                   const KeySwitch<Word>& keys, const Tables<Word>& tables, cudaStream_t stream) {
  const KeySwitchRows& rows = keys.rows;
  const uint32_t all = rows.map.count;
  if (size_t{rows.digits} * all > RowMap::kMax) return cudaErrorInvalidValue;
  RowMap limbs = rows.map;
  limbs.count = rows.limbs;
  const auto stride = static_cast<unsigned>(parts * rows.limbs);
  const CoefficientRows<Word> last_part{in, scratch, stride, stride - rows.limbs, rows.limbs, tables.log_n};
  cudaError_t error = launch_ntt<Word, true>(last_part, limbs, ciphertexts, tables, stream);
  if (error == cudaSuccess) error = convert_digits(unit, digits, scratch, ciphertexts, keys, tables, stream);
  if (error != cudaSuccess) return error;
  RowMap others;  // of all digits, without their own limbs
  others.count = rows.digits * all;
  for (uint32_t digit = 0; digit < rows.digits; ++digit)
    std::copy_n(keys.up[digit].targets.prime, all, others.prime + digit * all);
  const ForwardInPlace<Word> in_place{{digits, others.count, tables.log_n}};
  return launch_ntt<Word, false>(in_place, others, ciphertexts, tables, stream);
}

template <class Word>
cudaError_t mod_down(Unit unit, Word* out, Word* in, Word* scratch, const Addend<Word>& addend, size_t ciphertexts,
                     const KeySwitch<Word>& keys, const Tables<Word>& tables, cudaStream_t stream) {
  const KeySwitchRows& rows = keys.rows;
  RowMap special = rows.map, limbs = rows.map;
  std::fill_n(special.prime, rows.limbs, RowMap::kSkip);
  limbs.count = rows.limbs;
  const InverseInPlace<Word> in_place{{in, special.count, tables.log_n}};
  cudaError_t error = launch_ntt<Word, true>(in_place, special, ciphertexts * 2, tables, stream);
  if (error != cudaSuccess) return error;
  const Conversions<Word> down{in, scratch,      special.count, rows.limbs,  static_cast<unsigned>(ciphertexts * 2),
                               1,  {rows.limbs}, {0},           {*keys.down}};
  error = convert(imma_steps(unit, *keys.down), down, tables, stream);
  if (error != cudaSuccess) return error;
  const ModDownRows<Word> job{scratch, in, out, addend, keys.inverse_special, rows.limbs, rows.map.count, tables.log_n};
  return launch_ntt<Word, false>(job, limbs, ciphertexts * 2, tables, stream);
}

template <class Word>
cudaError_t rescale(Word* out, const Word* in, Word* scratch, size_t polynomials, const RowMap& map,
                    const Factor<Word>* inverse_last, const Tables<Word>& tables, cudaStream_t stream) {
  if (map.count < 2) return cudaErrorInvalidValue;
  RowMap last{1, {map.prime[map.count - 1]}}, others = map;
  others.count = map.count - 1;
  const CoefficientRows<Word> coefficients{in, scratch, map.count, map.count - 1, 1, tables.log_n};
  const cudaError_t error = launch_ntt<Word, true>(coefficients, last, polynomials, tables, stream);
  if (error != cudaSuccess) return error;
  const RescaleRows<Word> job{scratch, in, out, inverse_last, map.count, last.prime[0], tables.log_n};
  return launch_ntt<Word, false>(job, others, polynomials, tables, stream);
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
