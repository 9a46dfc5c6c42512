// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/gen_a.hpp"

#include <cstring>

#include "prim/keccak/keccak.hpp"

namespace polykem::frodo {

namespace {

/// Each row is the SHAKE128 of its number and the seed.
void generate_rows_shake(Matrix16 out, const Kernels& kernels, const uint8_t* seed_a, RowRange rows) {
  constexpr size_t kInput = 2 + kSeedABytes;
  uint8_t in[kMostGeneratedRows][kInput];
  const size_t row_bytes = rows.n * sizeof(uint16_t);
  for (size_t k = 0; k < rows.count; ++k) {
    in[k][0] = static_cast<uint8_t>(rows.first + k);
    in[k][1] = static_cast<uint8_t>((rows.first + k) >> 8);
    std::memcpy(in[k] + 2, seed_a, kSeedABytes);
  }
  auto* bytes = reinterpret_cast<uint8_t*>(out.data);
  if (kernels.keccak != nullptr) {
    kernels.keccak->shake128({bytes, out.stride * sizeof(uint16_t)}, row_bytes, {in[0], kInput}, kInput, rows.count);
    return;
  }
  for (size_t k = 0; k < rows.count; ++k) {
    Shake stream(Shake::Strength::shake128);
    stream.absorb(in[k]);
    stream.squeeze({bytes + k * out.stride * sizeof(uint16_t), row_bytes});
    words_of_little_endian(out.row(k), rows.n);
  }
}

}  // namespace

void generate_rows(Matrix16 out, GenA gen_a, const Kernels& kernels, const uint8_t* seed_a, RowRange rows) {
  if (gen_a == GenA::shake) {
    generate_rows_shake(out, kernels, seed_a, rows);
  } else {
    kernels.aes.grid(out.data, out.stride, seed_a, rows.first, rows.count, rows.n);
  }
}

}  // namespace polykem::frodo
