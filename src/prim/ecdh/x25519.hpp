// SPDX-License-Identifier: Apache-2.0
// X25519 [RFC7748, 5], written once over a field `F`: the arithmetic of GF(2^255 - 19) on as many items as F has lanes.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>

#include "core/isa.hpp"
#include "ct/ct.hpp"
#include "prim/ecdh/ecdh.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

/// Pointers to a record for each lane. If there are fewer, the last one is repeated.
template <size_t kLanes>
using RecordPointers = std::array<const uint8_t*, kLanes>;

/// The operations that the ladder requires of a field. An Element is a factor. A Sum is a product, whose carries may be
/// outstanding; the sum or difference of two Sums is an Element again.
template <class F>
concept LadderField = requires(typename F::Element e, typename F::Sum s, typename F::Scalars k,
                               RecordPointers<F::kLanes> records, uint8_t* const (&out)[F::kLanes]) {
  { F::load_scalars(records) } -> std::same_as<typename F::Scalars>;  // clamped
  { F::load(records) } -> std::same_as<typename F::Element>;          // any 255 bits
  { F::small(9) } -> std::same_as<typename F::Element>;
  { F::mul(e, e) } -> std::same_as<typename F::Sum>;
  { F::square(e) } -> std::same_as<typename F::Sum>;
  { F::carry(s) } -> std::same_as<typename F::Element>;
  { F::add(s, s) } -> std::same_as<typename F::Element>;
  { F::sub(s, s) } -> std::same_as<typename F::Element>;
  { F::mul_add(s, e, 121665u) } -> std::same_as<typename F::Element>;  // s + e * 121665
  { F::bit(k, 254) } -> std::same_as<typename F::Mask>;
  { F::select(F::bit(k, 0) ^ F::bit(k, 1), e, e) } -> std::same_as<typename F::Element>;  // second if set
};

/// Returns a^(2^n).
template <LadderField F>
constexpr typename F::Element square_times(typename F::Element a, int n) {
  for (int i = 0; i < n; ++i)
    a = F::carry(F::square(a));
  return a;
}

/// Returns a^(p - 2), which is the inverse of a, or 0 if a is 0. Exponents are written as in a_5_0 = a^(2^5 - 2^0).
template <LadderField F>
constexpr typename F::Element invert(const typename F::Element& a) {
  const auto mul = [](const auto& x, const auto& y) { return F::carry(F::mul(x, y)); };
  const auto a2 = square_times<F>(a, 1);
  const auto a9 = mul(square_times<F>(a2, 2), a);
  const auto a11 = mul(a9, a2);
  const auto a_5_0 = mul(square_times<F>(a11, 1), a9);
  const auto a_10_0 = mul(square_times<F>(a_5_0, 5), a_5_0);
  const auto a_20_0 = mul(square_times<F>(a_10_0, 10), a_10_0);
  const auto a_40_0 = mul(square_times<F>(a_20_0, 20), a_20_0);
  const auto a_50_0 = mul(square_times<F>(a_40_0, 10), a_10_0);
  const auto a_100_0 = mul(square_times<F>(a_50_0, 50), a_50_0);
  const auto a_200_0 = mul(square_times<F>(a_100_0, 100), a_100_0);
  const auto a_250_0 = mul(square_times<F>(a_200_0, 50), a_50_0);
  return mul(square_times<F>(a_250_0, 5), a11);
}

/// Returns the u coordinates of scalar times the points with u coordinate `u`.
///
/// The ladder keeps (R, R + P) in an order that depends on the last bit: `doubled` is the result of a doubling, `added`
/// that of an addition. The addition is symmetric in its operands, so that only those of the doubling are selected.
template <LadderField F>
constexpr typename F::Element ladder(const typename F::Scalars& scalars, const typename F::Element& u) {
  struct Projective {
    typename F::Sum x, z;
  };
  const auto zero = F::small(0), one = F::small(1);
  Projective doubled{F::mul(one, one), F::mul(zero, one)}, added{F::mul(u, one), F::mul(one, one)};
  auto last = F::bit(scalars, 255);  // bit 255 is clear
  for (int t = 254; t >= 0; --t) {
    const auto a = F::add(doubled.x, doubled.z), b = F::sub(doubled.x, doubled.z);
    const auto c = F::add(added.x, added.z), d = F::sub(added.x, added.z);
    const auto da = F::mul(d, a), cb = F::mul(c, b);
    const auto bit = F::bit(scalars, t);
    const auto chosen = static_cast<typename F::Mask>(bit ^ last);
    last = bit;
    const auto aa = F::square(F::select(chosen, a, c)), bb = F::square(F::select(chosen, b, d));
    const auto e = F::sub(aa, bb);
    added.x = F::square(F::add(da, cb));
    added.z = F::mul(u, F::carry(F::square(F::sub(da, cb))));
    doubled.x = F::mul(F::carry(aa), F::carry(bb));
    doubled.z = F::mul(e, F::mul_add(aa, e, 121665));
  }
  // The last bits of a clamped scalar are 0, so that R is `doubled`.
  return F::carry(F::mul(F::carry(doubled.x), invert<F>(F::carry(doubled.z))));
}

/// True if the 32 bytes of a secret are not all zero, which is public.
inline bool any_bit(const uint8_t* bytes) {
  uint8_t any = 0;
  for (size_t i = 0; i < info(Curve::kX25519).secret_bytes; ++i)
    any = static_cast<uint8_t>(any | bytes[i]);
  ct::declassify(&any, sizeof any);
  return any != 0;
}

template <size_t kLanes>
RecordPointers<kLanes> pointers_to(ConstByteRows records, size_t first, size_t count) {
  RecordPointers<kLanes> at;
  for (size_t lane = 0; lane < kLanes; ++lane)
    at[lane] = records.at(std::min(first + lane, count - 1));
  return at;
}

template <LadderField F>
void x25519_shared_secrets(size_t count, ConstByteRows scalars, ConstByteRows points, ByteRows secrets, bool* valid,
                           std::byte* /*workspace*/) {
  for (size_t first = 0; first < count; first += F::kLanes) {
    const size_t items = std::min(F::kLanes, count - first);
    F::store(ladder<F>(F::load_scalars(pointers_to<F::kLanes>(scalars, first, count)),
                       F::load(pointers_to<F::kLanes>(points, first, count))),
             secrets, first, items);
    for (size_t i = first; i < first + items; ++i)
      valid[i] = any_bit(secrets.at(i));
  }
}

}  // namespace POLYKEM_ISA

const Implementation& x25519_portable();
/// Computes four items at a time.
const Implementation& x25519_avx2();
/// Computes one item at a time, with a coordinate in each lane.
const Implementation& x25519_avx2_single();
/// Computes eight items at a time.
const Implementation& x25519_avx512();

}  // namespace polykem::ecdh
