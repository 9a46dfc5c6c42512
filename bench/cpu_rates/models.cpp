// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace polykem::bench::cpu_rates::model {
namespace {

/// Replaces each lane of type T of the value by f(value lane, operand lane).
template <class T, class F>
void lanes(Register& value, const Register& operand, F f) {
  constexpr size_t kLanes = sizeof(Register) / sizeof(T);
  T a[kLanes], k[kLanes];
  std::memcpy(a, value.bytes, sizeof a);
  std::memcpy(k, operand.bytes, sizeof k);
  for (size_t i = 0; i < kLanes; ++i)
    a[i] = f(a[i], k[i]);
  std::memcpy(value.bytes, a, sizeof a);
}

}  // namespace

void add(Register& value, const Register& operand) {
  lanes<uint16_t>(value, operand, [](uint16_t a, uint16_t k) { return static_cast<uint16_t>(a + k); });
}

/// Computes a xor (k and k).
void ternary(Register& value, const Register& operand) {
  lanes<uint64_t>(value, operand, [](uint64_t a, uint64_t k) { return a ^ k; });
}

void rotate(Register& value, const Register& operand) {
  lanes<uint64_t>(value, operand, [](uint64_t a, uint64_t) { return std::rotl(a, 13); });
}

void shift(Register& value, const Register& operand) {
  lanes<uint32_t>(value, operand, [](uint32_t a, uint32_t k) { return a << 7 | k >> 25; });
}

void multiply(Register& value, const Register& operand) {
  lanes<uint16_t>(value, operand, [](uint16_t a, uint16_t k) { return static_cast<uint16_t>(uint32_t{a} * k); });
}

void multiply_pairs(Register& value, const Register& operand) {
  lanes<uint32_t>(value, operand, [](uint32_t a, uint32_t k) {
    const int32_t low = static_cast<int16_t>(k), high = static_cast<int16_t>(k >> 16);
    return a + static_cast<uint32_t>(low * low) + static_cast<uint32_t>(high * high);
  });
}

void minimum(Register& value, const Register& operand) {
  lanes<uint32_t>(value, operand, [](uint32_t a, uint32_t k) { return std::min(a, k); });
}

void permute(Register& value, const Register& operand) {
  uint16_t from[32];
  std::memcpy(from, value.bytes, sizeof from);
  lanes<uint16_t>(value, operand, [&](uint16_t, uint16_t k) { return from[k % 32]; });
}

/// Uses the instruction for one block, which the tests of AES compare with the standard.
void aes(Register& value, const Register& operand) {
  for (size_t i = 0; i < sizeof value.bytes; i += sizeof(__m128i)) {
    const __m128i block = _mm_load_si128(reinterpret_cast<const __m128i*>(value.bytes + i));
    const __m128i key = _mm_load_si128(reinterpret_cast<const __m128i*>(operand.bytes + i));
    _mm_store_si128(reinterpret_cast<__m128i*>(value.bytes + i), _mm_aesenc_si128(block, key));
  }
}

}  // namespace polykem::bench::cpu_rates::model
