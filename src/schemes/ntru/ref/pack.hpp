// SPDX-License-Identifier: Apache-2.0
// Packed forms of NTRU's polynomials: five trits per byte, or log2 q bits per coefficient, little-endian. [NTRU20,
// pack_S3, pack_Rq0, pack_Sq]
#pragma once

#include <cstring>

#include "core/secure.hpp"
#include "ct/ct.hpp"
#include "schemes/ntru/types.hpp"

namespace polykem::ntru::ref {
inline namespace POLYKEM_ISA {

/// Writes P.trits_bytes() bytes of five coefficients each. The lowest coefficient of a byte is its lowest base-3 digit.
template <NtruParams P>
void poly_S3_tobytes(uint8_t* out, const Poly<P, S3>& a) {
  for (size_t i = 0; i < P.trits_bytes(); ++i) {
    uint32_t byte = 0;
    for (size_t j = 5; j-- > 0;) {
      const size_t k = 5 * i + j;
      byte = 3 * byte + (k < P.n - 1 ? a.c[k] : 0u);
    }
    out[i] = static_cast<uint8_t>(byte);
  }
}

/// Reads five coefficients from each byte. Every byte string is accepted: only a byte's five lowest base-3 digits
/// count.
template <NtruParams P>
void poly_S3_frombytes(Poly<P, S3>& a, const uint8_t* in) {
  constexpr size_t kBytes = P.trits_bytes();
  uint16_t rest[kBytes], digit[kBytes];
  for (size_t i = 0; i < kBytes; ++i)
    rest[i] = in[i];
  for (size_t j = 0; j < 5; ++j) {
    for (size_t i = 0; i < kBytes; ++i) {
      const auto third = static_cast<uint16_t>((rest[i] * 21846u) >> 16);
      digit[i] = static_cast<uint16_t>(rest[i] - 3u * third);
      rest[i] = third;
    }
    for (size_t i = 0; 5 * i + j < P.n - 1; ++i)
      a.c[5 * i + j] = digit[i];
  }
  a.c[P.n - 1] = 0;
  zeroize(digit, sizeof digit);
}

/// Writes the first n - 1 coefficients mod q as P.rq_bytes() bytes, whose unused bits are 0.
template <NtruParams P>
void poly_Sq_tobytes(uint8_t* out, const uint16_t (&c)[P.n]) {
  uint32_t buffer = 0;
  unsigned bits = 0;
  for (size_t i = 0; i + 1 < P.n; ++i) {
    buffer |= (c[i] & (P.q() - 1)) << bits;
    for (bits += P.logq; bits >= 8; bits -= 8) {
      *out++ = static_cast<uint8_t>(buffer);
      buffer >>= 8;
    }
  }
  if (bits > 0) *out = static_cast<uint8_t>(buffer);
}

/// Reads the first n - 1 coefficients. The last one becomes 0.
template <NtruParams P>
void poly_Sq_frombytes(uint16_t (&c)[P.n], const uint8_t* in) {
  uint8_t padded[P.rq_bytes() + 2] = {};  // every coefficient lies within three bytes
  std::memcpy(padded, in, P.rq_bytes());
#pragma GCC unroll 8
  for (size_t i = 0; i + 1 < P.n; ++i) {
    const uint8_t* first = padded + i * P.logq / 8;
    const uint32_t three = first[0] | uint32_t{first[1]} << 8 | uint32_t{first[2]} << 16;
    c[i] = static_cast<uint16_t>((three >> (i * P.logq % 8)) & (P.q() - 1));
  }
  c[P.n - 1] = 0;
  zeroize(padded, sizeof padded);
}

/// Reads the first n - 1 coefficients. The last one becomes minus their sum.
template <NtruParams P>
void poly_Rq_sum_zero_frombytes(Poly<P, Rq>& a, const uint8_t* in) {
  poly_Sq_frombytes<P>(a.c, in);
  uint16_t sum = 0;
  for (size_t i = 0; i + 1 < P.n; ++i)
    sum = static_cast<uint16_t>(sum + a.c[i]);
  a.c[P.n - 1] = static_cast<uint16_t>(0u - sum);
}

/// Returns all ones if a bit of the last byte beyond the last coefficient is set, else 0.
template <NtruParams P>
uint32_t padding_mask(const uint8_t* packed) {
  constexpr unsigned kUsed = (P.n - 1) * P.logq % 8;
  if constexpr (kUsed == 0) {
    return 0;
  } else {
    return ct::mask_nonzero(static_cast<uint32_t>(packed[P.rq_bytes() - 1]) >> kUsed);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::ref
