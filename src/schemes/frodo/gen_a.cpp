// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/gen_a.hpp"

#include <cstring>

#include "prim/keccak/keccak.hpp"

namespace polykem::frodo {

namespace {

constexpr size_t kRowInput = 2 + kSeedABytes;

/// Writes the input of a row, which is the SHAKE128 of its number and the seed.
void row_input(uint8_t in[kRowInput], size_t row, const uint8_t* seed_a) {
  in[0] = static_cast<uint8_t>(row);
  in[1] = static_cast<uint8_t>(row >> 8);
  std::memcpy(in + 2, seed_a, kSeedABytes);
}

void generate_rows_shake_lanes(Matrix16 out, const KeccakFunctions& lanes, const uint8_t* seed_a, RowRange rows) {
  uint8_t in[kMaxGeneratedRows][kRowInput];
  for (size_t k = 0; k < rows.count; ++k)
    row_input(in[k], rows.first + k, seed_a);
  lanes.shake128({reinterpret_cast<uint8_t*>(out.data), out.stride * sizeof(uint16_t)}, rows.n * sizeof(uint16_t),
                 {in[0], kRowInput}, kRowInput, rows.count);
}

/// Generates rows one after the other. This is a function of its own, since it needs less stack.
void generate_rows_shake(Matrix16 out, const uint8_t* seed_a, RowRange rows) {
  uint8_t in[kRowInput];
  for (size_t k = 0; k < rows.count; ++k) {
    row_input(in, rows.first + k, seed_a);
    Shake stream(Shake::Strength::kShake128);
    stream.absorb(in);
    stream.squeeze({reinterpret_cast<uint8_t*>(out.row(k)), rows.n * sizeof(uint16_t)});
    to_or_from_little_endian(out.row(k), rows.n);
  }
}

}  // namespace

void generate_rows(Matrix16 out, GenA gen_a, const Kernels& kernels, const uint8_t* seed_a, RowRange rows) {
  if (gen_a == GenA::kAes) {
    kernels.aes.grid(out.data, out.stride, seed_a, rows.first, rows.count, rows.n);
  } else if (kernels.keccak != nullptr) {
    generate_rows_shake_lanes(out, *kernels.keccak, seed_a, rows);
  } else {
    generate_rows_shake(out, seed_a, rows);
  }
}

}  // namespace polykem::frodo
