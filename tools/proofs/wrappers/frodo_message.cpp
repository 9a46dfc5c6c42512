// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's coding of messages, which the library has inlined in its steps, for proofs: see inlined.cpp.
#include "core/isa.hpp"
#include "schemes/frodo/message.hpp"

#include <cstring>

#define JOINED(isa, name) isa##_##name
#define NAMED(isa, name) JOINED(isa, name)
#define FUNCTION(name) extern "C" void NAMED(POLYKEM_ISA, name)

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

#define CODES(n)                                                  \
  FUNCTION(frodo_encode_##n)(uint16_t * out, const uint8_t* mu) { \
    encode(out, mu, frodo::kFrodo##n);                            \
  }                                                               \
  FUNCTION(frodo_decode_##n)(uint8_t * mu, const uint16_t* c) {   \
    decode(mu, c, frodo::kFrodo##n);                              \
  }
CODES(640)
CODES(976)
CODES(1344)
