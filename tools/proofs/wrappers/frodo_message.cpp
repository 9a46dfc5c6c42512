// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's coding of messages, which the library has inlined in its steps, which all backends share, for proofs: see
// inlined.cpp.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

#include "schemes/frodo/message.hpp"

#include <cstring>

namespace frodo = polykem::frodo;

namespace {
constexpr frodo::Set set_of(const frodo::FrodoParams& p) {
  return {"", "", p, frodo::GenA::kShake, false};
}
void encode(uint16_t* out, const uint8_t* mu, const frodo::FrodoParams& p) {
  const frodo::Set set = set_of(p);
  for (size_t i = 0; i < frodo::kSquare; ++i)
    out[i] = frodo::MessageBits{set}.encoded(mu, i);
}
void decode(uint8_t* mu, const uint16_t* c, const frodo::FrodoParams& p) {
  const frodo::Set set = set_of(p);
  std::memset(mu, 0, p.secret_bytes);
  for (size_t i = 0; i < frodo::kSquare; ++i)
    frodo::MessageBits{set}.decode(mu, i, c[i]);
}
}  // namespace

#define CODES(n)                                                                \
  extern "C" void portable_frodo_encode_##n(uint16_t* out, const uint8_t* mu) { \
    encode(out, mu, frodo::kFrodo##n);                                          \
  }                                                                             \
  extern "C" void portable_frodo_decode_##n(uint8_t* mu, const uint16_t* c) {   \
    decode(mu, c, frodo::kFrodo##n);                                            \
  }
CODES(640)
CODES(976)
CODES(1344)

#endif
