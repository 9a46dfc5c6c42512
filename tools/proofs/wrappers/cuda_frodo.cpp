// SPDX-License-Identifier: Apache-2.0
// Packing and noise of FrodoKEM's device headers, compiled for the host, for proofs: tools/proofs/README.md. Its noise
// counts thresholds in floating-point registers, with whole numbers below 2^24, which those hold exactly: integers
// stand for them here.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

#include <array>
#include <cmath>
#include <cstring>

#include "schemes/frodo/params.hpp"
#include "tools/proofs/wrappers/cuda_warp.hpp"

/// A whole number, at most 2^24 in absolute value, with the operations that the noise takes.
struct Whole {
  int32_t value = 0;
  constexpr Whole() = default;
  constexpr Whole(int32_t whole) : value(whole) {}
  friend Whole operator-(Whole a, Whole b) { return a.value - b.value; }
};
/// a b + c, for b = 1 or 2^16.
inline Whole __fmaf_rn(Whole a, double b, Whole c) {
  return a.value * static_cast<int32_t>(b) + c.value;
}
/// a cut to [0, 1].
inline Whole __saturatef(Whole a) {
  return a.value > 0 ? 1 : 0;
}
/// The bits of 2^23 + x, x < 2^23, have x in their lower part.
inline Whole __uint_as_float(uint32_t bits) {
  return static_cast<int32_t>(bits - 0x4b000000 + (1 << 23));
}
inline uint32_t __float_as_uint(Whole a) {
  return 0x4b000000 + static_cast<uint32_t>(a.value - (1 << 23));
}

// After the keywords.
#define float Whole
#include "schemes/frodo/cuda/noise.cuh"
#undef float
#include "schemes/frodo/cuda/finish_c1.cuh"

namespace frodo = polykem::frodo::cuda;
using polykem::frodo::kBar;

#define FUNCTION(name) extern "C" void cuda_frodo_##name

/// Errors of 32 words.
#define SAMPLE(n, count)                                                                        \
  FUNCTION(sample_##n)(uint32_t * out, const uint64_t* words, const polykem::frodo::Cdf& cdf) { \
    const frodo::Thresholds t = frodo::thresholds(cdf);                                         \
    for (size_t k = 0; k < 8; ++k)                                                              \
      out[k] = frodo::sample4<count>(words[k], t);                                              \
  }
SAMPLE(640, 12)
SAMPLE(976, 10)
SAMPLE(1344, 6)
#define PACK(bits)                                             \
  FUNCTION(pack_##bits)(uint8_t * out, const uint16_t* in) {   \
    for (uint32_t k = 0; k < 8; ++k) {                         \
      uint32_t c[kBar], words[4];                              \
      for (size_t i = 0; i < kBar; ++i)                        \
        c[i] = in[8 * k + i] | uint32_t{in[i]} << 16;          \
      frodo::pack8(words, c, bits);                            \
      frodo::store_packed(out, k, words, bits);                \
    }                                                          \
  }                                                            \
  FUNCTION(unpack_##bits)(uint16_t * out, const uint8_t* in) { \
    for (uint32_t k = 0; k < 8; ++k) {                         \
      uint32_t c[kBar], words[4];                              \
      frodo::load_packed(words, in + bits * k, bits);          \
      frodo::unpack8(c, words, bits);                          \
      for (size_t i = 0; i < kBar; ++i)                        \
        out[8 * k + i] = static_cast<uint16_t>(c[i]);          \
    }                                                          \
  }
PACK(15)
PACK(16)

#endif
