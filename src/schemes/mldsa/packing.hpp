// SPDX-License-Identifier: Apache-2.0
// Converts polynomials to and from bytes, least significant bit first. [FIPS204, 7.1]
#pragma once

#include <bit>
#include <cstring>

#include "schemes/mldsa/rounding.hpp"
#include "schemes/mldsa/types.hpp"
#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)
#include "schemes/mldsa/lanes/packing.hpp"
#include "schemes/mldsa/lanes/unpacking.hpp"
#endif

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)

using lanes::pack;
using lanes::unpack;

#else

/// Packs 256 coefficients in [0, 2^kBits) into 32 kBits bytes. [FIPS204, Alg 16]
template <unsigned kBits>
void pack(uint8_t* out, const int32_t* c) {
  for (size_t i = 0; i < kN; i += 8, out += kBits) {
    uint64_t bits = 0;
    unsigned filled = 0, written = 0;
    for (size_t j = 0; j < 8; ++j) {
      bits |= static_cast<uint64_t>(static_cast<uint32_t>(c[i + j])) << filled;
      for (filled += kBits; filled >= 8; filled -= 8, bits >>= 8)
        out[written++] = static_cast<uint8_t>(bits);
    }
  }
}

/// Unpacks 256 coefficients in [0, 2^kBits) from 32 kBits bytes. [FIPS204, Alg 18]
template <unsigned kBits>
void unpack(int32_t* out, const uint8_t* in) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  for (size_t i = 0; i < kN; i += 8, in += kBits) {
    uint64_t bits = 0;
    unsigned filled = 0, read = 0;
    for (size_t j = 0; j < 8; ++j) {
      for (; filled < kBits; filled += 8)
        bits |= uint64_t{in[read++]} << filled;
      out[i + j] = static_cast<int32_t>(bits & kMask);
      bits >>= kBits;
      filled -= kBits;
    }
  }
}

#endif

/// Packs coefficients c in [top - 2^kBits + 1, top] as top - c. [FIPS204, Alg 17]
template <unsigned kBits>
void pack_below(uint8_t* out, const Poly& a, int32_t top) {
  Poly from_top;
  for (size_t i = 0; i < kN; ++i)
    from_top.c[i] = top - a.c[i];
  pack<kBits>(out, from_top.c);
}
/// Unpacks coefficients c in [top - 2^kBits + 1, top] that are packed as top - c. [FIPS204, Alg 19]
template <unsigned kBits>
void unpack_below(Poly& a, const uint8_t* in, int32_t top) {
  unpack<kBits>(a.c, in);
  for (int32_t& c : a.c)
    c = top - c;
}

/// Packs the positions of the ones of k polynomials and, after them, how many there are up to the end of each. `hint`
/// has k x 256 values of 0 or 1, at most omega of them 1, and is public. [FIPS204, Alg 20]
template <MldsaParams P>
void pack_hint(uint8_t* out, const Poly* hint) {
  std::memset(out, 0, P.omega + P.k);
  size_t index = 0;
  for (size_t i = 0; i < P.k; ++i) {
    uint64_t bits[kN / 64];
    pack<1>(reinterpret_cast<uint8_t*>(bits), hint[i].c);
    for (size_t word = 0; word < kN / 64; ++word)
      for (; bits[word] != 0; bits[word] &= bits[word] - 1)
        out[index++] = static_cast<uint8_t>(64 * word + static_cast<size_t>(std::countr_zero(bits[word])));
    out[P.omega + i] = static_cast<uint8_t>(index);
  }
}

/// Unpacks what pack_hint() packed. Returns false if the bytes are not what pack_hint() writes. [FIPS204, Alg 21]
template <MldsaParams P>
bool unpack_hint(Poly* hint, const uint8_t* in) {
  std::memset(hint, 0, P.k * sizeof(Poly));
  size_t index = 0;
  for (size_t i = 0; i < P.k; ++i) {
    const size_t end = in[P.omega + i], first = index;
    if (end < index || end > P.omega) return false;
    for (; index < end; ++index) {
      if (index > first && in[index - 1] >= in[index]) return false;
      hint[i].c[in[index]] = 1;
    }
  }
  for (; index < P.omega; ++index)
    if (in[index] != 0) return false;
  return true;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
