// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the device headers, compiled for the host, for proofs: tools/proofs/README.md. Loops over the 16 lanes
// of a polynomial, and its transposition between columns and rows, replace the lanes and their exchange.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

#include "tools/proofs/wrappers/cuda_host.hpp"

// After the keywords.
#include "prim/ntt/cuda/ntt.cuh"
namespace polykem::cuda {
inline constexpr int kExchangeWords = 0;
inline void to_rows(Coefficients&, uint32_t*, unsigned) {}
inline void to_columns(Coefficients&, uint32_t*, unsigned) {}
}  // namespace polykem::cuda
#include "schemes/mldsa/cuda/transform.cuh"

namespace {

using polykem::cuda::Coefficients, polykem::cuda::kPolyLanes, polykem::cuda::kLaneCoefficients;

/// Calls f(coefficients, lane) for each lane, whose coefficients are distance apart and begin at lane times step.
template <int kStep, int kDistance, class F>
void each_lane(uint32_t* a, F f) {
  for (unsigned l = 0; l < kPolyLanes; ++l) {
    Coefficients own;
    for (unsigned r = 0; r < kLaneCoefficients; ++r)
      own[r] = a[l * kStep + r * kDistance];
    f(own, l);
    for (unsigned r = 0; r < kLaneCoefficients; ++r)
      a[l * kStep + r * kDistance] = own[r];
  }
}
template <class F>
void in_columns(uint32_t* a, F f) {
  each_lane<1, 16>(a, f);
}
template <class F>
void in_rows(uint32_t* a, F f) {
  each_lane<16, 1>(a, f);
}

}  // namespace

namespace ntt = polykem::cuda;

extern "C" void cuda_mlkem_transform(uint32_t* a) {
  in_columns(a, [](Coefficients& own, unsigned) { ntt::forward_columns(own); });
  in_rows(a, [](Coefficients& own, unsigned l) { ntt::forward_rows(own, ntt::kRowFactors.forward[l]); });
}
extern "C" void cuda_mlkem_inverse(uint32_t* a) {
  in_rows(a, [](Coefficients& own, unsigned l) {
    for (uint32_t& x : own)
      x = ntt::reduce_to_2q(x);
    ntt::inverse_rows(own, ntt::kRowFactors.inverse[l]);
  });
  in_columns(a, [](Coefficients& own, unsigned) { ntt::inverse_columns(own); });
}
/// Adds `terms` products of rows a by transforms y to sums.
extern "C" void cuda_mlkem_products(uint32_t* sums, const uint32_t* a, const uint32_t* y, size_t terms) {
  for (size_t term = 0; term < terms; ++term, a += 256, y += 256) {
    for (unsigned l = 0; l < kPolyLanes; ++l) {
      Coefficients own;
      uint32_t odd[8];
      for (unsigned r = 0; r < kLaneCoefficients; ++r)
        own[r] = y[16 * l + r];
      ntt::times_gamma(odd, own, ntt::kRowFactors.forward[l]);
      for (unsigned pair = 0; pair < 8; ++pair) {
        const unsigned at = 16 * l + 2 * pair;
        ntt::add_product(sums[at], sums[at + 1], a[at], a[at + 1], y[at], y[at + 1], odd[pair]);
      }
    }
  }
}
#define EACH(name, expression)               \
  extern "C" void cuda_##name(uint32_t* a) { \
    for (size_t n = 0; n < 8; ++n) {         \
      const uint32_t x = a[n];               \
      a[n] = expression;                     \
    }                                        \
  }
EACH(mlkem_reduce_small, ntt::reduce_small(x))
EACH(mlkem_compress_1, ntt::compress<1>(x))
EACH(mlkem_compress_4, ntt::compress<4>(x))
EACH(mlkem_compress_5, ntt::compress<5>(x))
EACH(mlkem_compress_10, ntt::compress<10>(x))
EACH(mlkem_compress_11, ntt::compress<11>(x))
EACH(mlkem_decompress_1, ntt::decompress<1>(x))
EACH(mlkem_decompress_4, ntt::decompress<4>(x))
EACH(mlkem_decompress_5, ntt::decompress<5>(x))
EACH(mlkem_decompress_10, ntt::decompress<10>(x))
EACH(mlkem_decompress_11, ntt::decompress<11>(x))

namespace dsa = polykem::mldsa::cuda;

extern "C" void cuda_mldsa_transform(uint32_t* a) {
  in_columns(a, [](Coefficients& own, unsigned) {
    dsa::forward_layer<8>(own, [](int) { return dsa::column_factor(1); });
    dsa::forward_layer<4>(own, [](int block) { return dsa::column_factor(2 + block); });
    dsa::forward_layer<2>(own, [](int block) { return dsa::column_factor(4 + block); });
    dsa::forward_layer<1>(own, [](int block) { return dsa::column_factor(8 + block); });
  });
  in_rows(a, [](Coefficients& own, unsigned l) {
    const dsa::RowFactors f(dsa::kRowFactors.forward, l);
    dsa::forward_layer<8>(own, [&](int) { return f.of[0]; });
    dsa::forward_layer<4>(own, [&](int block) { return f.of[1 + block]; });
    dsa::forward_layer<2>(own, [&](int block) { return f.of[3 + block]; });
    dsa::forward_layer<1>(own, [&](int block) { return f.of[7 + block]; });
  });
}
extern "C" void cuda_mldsa_divide(uint32_t* out, const uint64_t* x) {
  for (size_t n = 0; n < 8; ++n)
    out[n] = dsa::divided_by_2_32(x[n]);
}
EACH(mldsa_reduced_once, dsa::reduced_once(x))

#endif
