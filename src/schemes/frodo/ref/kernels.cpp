// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/ref/kernels.hpp"

#include "ct/ct.hpp"

namespace polykem::frodo {

namespace ref {

namespace {

uint16_t load_le(const uint16_t* word) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(word);
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

}  // namespace

/// Every entry of the table is read, whatever the word is.
void sample(uint16_t* words, size_t count, const Cdf& cdf) {
  for (size_t i = 0; i < count; ++i) {
    const uint16_t word = load_le(&words[i]);
    const uint16_t position = word >> 1;
    const auto negative = static_cast<uint16_t>(0u - (word & 1u));
    uint16_t e = 0;
    for (size_t z = 0; z + 1 < cdf.size; ++z)
      e = static_cast<uint16_t>(e + (ct::barrier(static_cast<uint16_t>(cdf.at[z] - position)) >> 15));
    words[i] = static_cast<uint16_t>((e ^ negative) - negative);
  }
}

/// Eight coefficients fill logq bytes.
void pack(uint8_t* out, const uint16_t* in, size_t count, unsigned logq) {
  uint32_t pending = 0;
  unsigned bits = 0;
  for (size_t i = 0; i < count; ++i) {
    pending = pending << logq | (in[i] & ((1u << logq) - 1));
    for (bits += logq; bits >= 8; bits -= 8)
      *out++ = static_cast<uint8_t>(pending >> (bits - 8));
  }
}

void unpack(uint16_t* out, const uint8_t* in, size_t count, unsigned logq) {
  uint32_t pending = 0;
  unsigned bits = 0;
  for (size_t i = 0; i < count; ++i) {
    for (; bits < logq; bits += 8)
      pending = pending << 8 | *in++;
    bits -= logq;
    out[i] = static_cast<uint16_t>(pending >> bits & ((1u << logq) - 1));
  }
}

void unpack_transposed(Matrix16 out, const uint8_t* in, size_t n, unsigned logq) {
  for (size_t k = 0; k < n; ++k, in += logq) {
    uint16_t row[kBar];
    unpack(row, in, kBar, logq);
    for (size_t j = 0; j < kBar; ++j)
      out.row(j)[k] = row[j];
  }
}

}  // namespace ref

const Kernels kKernelsRef = {kMatMulPortable, kAes128Portable,       nullptr, ref::sample, ref::pack,
                             ref::unpack,     ref::unpack_transposed};

}  // namespace polykem::frodo
