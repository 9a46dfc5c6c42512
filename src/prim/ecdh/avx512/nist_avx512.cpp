// SPDX-License-Identifier: Apache-2.0
// P-256 and P-384 for eight items at a time.
//
// Scalars are odd here: k or n - k, whichever is, the point's sign with it. An odd number below 2^(w m) has m digits of
// w bits that are odd and between -2^w and 2^w [JT09]: 2 e - (2^w - 1), where e are the digits of (k - 1) / 2 + 2^(w m
// - 1). So no digit is 0, every digit needs one addition, and sums are multiples s of the point with s odd or doubled,
// in (0, n). The addition of d does not know s = d and s = -d modulo n. That cannot be while s and d are small against
// n, which is until the last addition; there s + d = k is not 0, and s = d is seen and doubled instead.
#include <cstring>
#include <new>

#include "core/secure.hpp"
#include "prim/ecdh/avx512/field52.hpp"
#include "prim/ecdh/nist.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

namespace {

constexpr size_t kLanes = 8;

template <class C>
struct Affine {
  Settled<C> x, y;
};

/// The affine point (x / z^2, y / z^3).
template <class C>
struct Jacobian {
  Settled<C> x, y;
  Factor<C, 4> z;
};

template <class C>
Number<C, 2> one() {
  return to_form<C>(Words<C::kWords>{{1}});
}

template <class C>
Affine<C> base_point() {
  return {to_form<C>(C::kBaseX), to_form<C>(C::kBaseY)};
}

enum class Then { kDouble, kAdd };

/// p = 2 p on y^2 = x^3 + a x + b [CMO98, modified Jacobian coordinates]. az4 = a z^4 is kept up to date if p is then
/// doubled again; zz = z^2 if it is then added to.
template <Then kThen, class C>
POLYKEM_NOINLINE void double_point(Jacobian<C>& p, Settled<C>& az4, Factor<C, 2>& zz) {
  const auto [xx, y2] = both(square(p.x), square(p.y));
  const auto slope = factor(times<3>(xx) + az4);
  const auto yy = factor(y2);
  const auto [yz, y4] = both(product(p.y, p.z), square(yy));
  const auto yyyy = number(y4);
  p.z = factor(times<2>(yz));
  const auto [slope2, xyy] = both(square(slope), product(p.x, yy));
  p.x = settled(slope2 - times<8>(xyy));
  const auto down = factor(times<4>(xyy) - p.x);
  if constexpr (kThen == Then::kDouble) {
    const auto [t, y] = both(product(yyyy, az4), product(slope, down));
    p.y = settled(y - times<8>(yyyy));
    az4 = settled(times<16>(t));
  } else {
    const auto [z2, y] = both(square(p.z), product(slope, down));
    p.y = settled(y - times<8>(yyyy));
    zz = factor(z2);
  }
}

/// p = p + q; zz = z^2 before and after [CMO98]. Returns a number that is 0 modulo p if they are equal; then, and if
/// p = -q, z becomes 0.
template <class C>
POLYKEM_NOINLINE auto add_affine(Jacobian<C>& p, Factor<C, 2>& zz, const Affine<C>& q) {
  const auto [xzz, z3] = both(product(q.x, zz), product(p.z, zz));
  const auto h = factor(xzz - p.x);
  const auto zzz = factor(z3);
  const auto [yzzz, h2] = both(product(q.y, zzz), square(h));
  const auto r = factor(yzzz - p.y);
  const auto hh = factor(h2);
  const auto [zh, v] = both(product(p.z, h), product(p.x, hh));
  p.z = factor(zh);
  const auto [r2, h3] = both(square(r), product(h, hh));
  const auto hhh = number(h3);
  p.x = settled(r2 - (hhh + times<2>(v)));
  const auto down = factor(v - p.x);
  const auto [z2, yhhh] = both(square(p.z), product(p.y, hhh));
  zz = factor(z2);
  p.y = settled(mul(r, down) - yhhh);
  return h;
}

/// p = p + q, also if they are equal; p != -q. zz = z^2.
template <class C>
void add_last(Jacobian<C>& p, Factor<C, 2>& zz, const Affine<C>& q, const Settled<C>& a) {
  Jacobian<C> twice = {q.x, q.y, one<C>()};
  Settled<C> az4 = a;
  double_point<Then::kDouble>(twice, az4, zz);
  const __mmask8 equal = zero_lanes(add_affine(p, zz, q));
  p = {select(equal, p.x, twice.x), select(equal, p.y, twice.y), select(equal, p.z, twice.z)};
}

/// multiples[i] = (2 i + 1) p, brought to a common z, which it returns: the points (x, y) are those of multiples of p
/// on the isomorphic curve with a = -3 z^4. Consecutive additions of 2 p share their z. [MEL07]
template <size_t kMultiples, class C>
Factor<C, 4> odd_multiples(Affine<C> (&multiples)[kMultiples], const Affine<C>& p) {
  Factor<C, 2 * Prime<C>::kSettled> ratios[kMultiples];  // of the z of neighbours
  Jacobian<C> twice = {p.x, p.y, one<C>()};
  Settled<C> minus_3 = settled(-times<3>(one<C>()));
  const auto yy = factor(sqr(p.y));
  multiples[0] = {settled(times<4>(mul(p.x, yy))), settled(times<8>(sqr(yy)))};
  Factor<C, 2> zz;
  double_point<Then::kAdd>(twice, minus_3, zz);
  for (size_t i = 1; i < kMultiples; ++i) {
    const Affine<C>& last = multiples[i - 1];
    const auto dx = factor(last.x - twice.x), dy = factor(last.y - twice.y);
    const auto dxdx = factor(sqr(dx));
    const auto x_twice = number(mul(twice.x, dxdx)), x_last = number(mul(last.x, dxdx));
    const auto y_twice = number(mul(twice.y, factor(x_last - x_twice)));
    multiples[i].x = settled(sqr(dy) - (x_twice + x_last));
    multiples[i].y = settled(mul(dy, factor(x_twice - multiples[i].x)) - y_twice);
    twice = {x_twice, y_twice, factor(mul(twice.z, dx))};
    ratios[i] = dx;
  }
  auto ratio = ratios[kMultiples - 1];  // of the last multiple's z to that of multiple i
  for (size_t i = kMultiples - 1; i-- > 0;) {
    const auto ratio2 = factor(sqr(ratio));
    multiples[i] = {number(mul(multiples[i].x, ratio2)), number(mul(multiples[i].y, factor(mul(ratio2, ratio))))};
    if (i > 0) ratio = factor(mul(ratio, ratios[i]));
  }
  return twice.z;
}

template <class C>
Affine<C> to_affine(const Jacobian<C>& p) {
  const auto inverse = invert(factor(mul(p.z, one<C>()))), square = factor(sqr(inverse));
  return {number(mul(p.x, square)), number(mul(p.y, factor(mul(square, inverse))))};
}

template <class C>
__mmask8 on_curve(const Affine<C>& p) {
  const auto right = mul(factor(sqr(p.x)), p.x) - times<3>(p.x) + to_form<C>(C::kB);
  return zero_lanes(factor(sqr(p.y) - right));
}

/// Eight numbers, word i of all side by side.
template <class C>
struct alignas(64) LaneWords {
  uint64_t word[C::kWords][kLanes];

  void set(size_t lane, const Words<C::kWords>& number) {
    for (size_t i = 0; i < C::kWords; ++i)
      word[i][lane] = number.word[i];
  }
  Words<C::kWords> get(size_t lane) const {
    Words<C::kWords> number;
    for (size_t i = 0; i < C::kWords; ++i)
      number.word[i] = word[i][lane];
    return number;
  }

  /// `count` bits from bit `from`, count < 64; bits beyond the last word are 0.
  V bits(size_t from, unsigned count) const {
    const size_t at = from / 64;
    const auto shift = static_cast<unsigned>(from % 64);
    V out = _mm512_srli_epi64(_mm512_load_si512(word[at]), shift);
    if (shift + count > 64 && at + 1 < C::kWords) out |= _mm512_slli_epi64(_mm512_load_si512(word[at + 1]), 64 - shift);
    return out & all_lanes((uint64_t{1} << count) - 1);
  }

  Number<C, 1> limbs() const {
    Number<C, 1> out;
    for (size_t i = 0; i < kLimbs<C>; ++i)
      out.limb[i] = bits(kLimbBits * i, kLimbBits);
    return out;
  }
  void set_limbs(const Number<C, 1>& x) {
    for (size_t i = 0; i < C::kWords; ++i) {
      const size_t at = 64 * i / kLimbBits;
      const auto shift = static_cast<unsigned>(64 * i % kLimbBits);
      V out = _mm512_srli_epi64(x.limb[at], shift) | _mm512_slli_epi64(x.limb[at + 1], kLimbBits - shift);
      if (2 * kLimbBits - shift < 64) out |= _mm512_slli_epi64(x.limb[at + 2], 2 * kLimbBits - shift);
      _mm512_store_si512(word[i], out);
    }
  }
};

/// Odd scalars of eight items, halved: (k - 1) / 2.
template <class C>
struct Scalars {
  LaneWords<C> half;
  __mmask8 negated = 0;

  void set(size_t lane, const Words<C::kWords>& scalar) {
    Words<C::kWords> odd, complement;
    subtract(complement, C::kN, scalar);
    const uint64_t keep = ct::barrier(0 - (scalar.word[0] & 1));
    for (size_t i = 0; i < C::kWords; ++i)
      odd.word[i] = (scalar.word[i] & keep) | (complement.word[i] & ~keep);
    for (size_t i = 0; i < C::kWords; ++i)
      odd.word[i] = odd.word[i] >> 1 | (i + 1 < C::kWords ? odd.word[i + 1] << 63 : 0);
    half.set(lane, odd);
    negated = static_cast<__mmask8>(negated | (~keep & 1) << lane);
  }
};

/// Digit i, 2 e - (2^w - 1): its size is 2 index + 1.
struct Digit {
  V index;
  __mmask8 negative;
};
template <unsigned kBits, size_t kDigits, class C>
Digit digit(const Scalars<C>& scalars, size_t i) {
  const V half = all_lanes(uint64_t{1} << (kBits - 1)), low = all_lanes((uint64_t{1} << (kBits - 1)) - 1);
  V e = kBits * i < 64 * C::kWords ? scalars.half.bits(kBits * i, kBits) : _mm512_setzero_si512();
  if (i + 1 == kDigits) e |= half;
  const __mmask8 negative = _mm512_testn_epi64_mask(e, half);
  return {_mm512_mask_xor_epi64(e & low, negative, e, low), negative};
}

template <class C>
void negate(Affine<C>& p, __mmask8 lanes) {
  p.y = select(lanes, p.y, settled(-p.y));
}

/// A point of any curve, in windows of four bits.
template <class C>
struct VariableBase {
  static constexpr unsigned kBits = 4;
  static constexpr size_t kDigits = 64 * C::kWords / kBits;
  Affine<C> multiples[1 << (kBits - 1)];

  Affine<C> look_up(const Digit& digit) const {
    Affine<C> out = multiples[0];
    for (uint64_t i = 1; i < 1 << (kBits - 1); ++i) {
      const __mmask8 here = _mm512_cmpeq_epi64_mask(digit.index, all_lanes(i));
      out = {select(here, out.x, multiples[i].x), select(here, out.y, multiples[i].y)};
    }
    negate(out, digit.negative);
    return out;
  }

  Jacobian<C> multiply(const Scalars<C>& scalars, const Affine<C>& point) {
    const auto z = odd_multiples(multiples, point);
    const Settled<C> a = settled(-times<3>(sqr(factor(sqr(z)))));
    const Affine<C> first = look_up(digit<kBits, kDigits>(scalars, kDigits - 1));
    Jacobian<C> sum = {first.x, first.y, one<C>()};
    Settled<C> az4 = a;
    Factor<C, 2> zz;
    for (size_t i = kDigits - 1; i-- > 0;) {
      for (unsigned bit = 1; bit < kBits; ++bit)
        double_point<Then::kDouble>(sum, az4, zz);
      double_point<Then::kAdd>(sum, az4, zz);
      const Affine<C> multiple = look_up(digit<kBits, kDigits>(scalars, i));
      if (i == 0) {
        add_last(sum, zz, multiple, a);
      } else {
        add_affine(sum, zz, multiple);
        az4 = number(mul(a, factor(sqr(zz))));
      }
    }
    sum.z = factor(mul(sum.z, z));
    return sum;
  }
};

/// The base point: digits of five bits, for each of which there are 16 multiples, so that nothing is doubled.
template <class C>
struct FixedBase {
  static constexpr unsigned kBits = 5;
  static constexpr size_t kDigits = 64 * C::kWords / kBits + 1, kMultiples = 1 << (kBits - 1);
  /// Of (2 e + 1) 2^(5 i) times the base point, limb l of coordinate c is at [i][c][l][e].
  alignas(64) uint64_t table[kDigits][2][kLimbs<C>][kMultiples];

  FixedBase() {
    const Affine<C> base = base_point<C>();
    Jacobian<C> power = {base.x, base.y, one<C>()}, powers = power;
    Settled<C> az4 = settled(-times<3>(one<C>()));
    Factor<C, 2> zz;
    for (size_t i = 0; i < kDigits; ++i) {
      const auto lane = static_cast<__mmask8>(1 << i % kLanes);
      powers = {select(lane, powers.x, power.x), select(lane, powers.y, power.y), select(lane, powers.z, power.z)};
      if (i % kLanes == kLanes - 1 || i == kDigits - 1) fill(i - i % kLanes, i % kLanes + 1, powers);
      for (unsigned bit = 0; bit < kBits; ++bit)
        double_point<Then::kDouble>(power, az4, zz);
    }
  }

  /// The table at digits first to first + count - 1, whose points are in the first lanes of `powers`.
  void fill(size_t first, size_t count, const Jacobian<C>& powers) {
    static Affine<C> multiples[kMultiples];  // too large for a fibre's stack; only the constructor comes here
    const auto z = odd_multiples(multiples, to_affine(powers));
    const auto inverse = invert(factor(mul(z, one<C>()))), square = factor(sqr(inverse));
    const auto cube = factor(mul(square, inverse));
    for (size_t e = 0; e < kMultiples; ++e) {
      const Affine<C> point = {number(mul(multiples[e].x, square)), number(mul(multiples[e].y, cube))};
      for (size_t limb = 0; limb < kLimbs<C>; ++limb) {
        alignas(64) uint64_t x[kLanes], y[kLanes];
        _mm512_store_si512(x, point.x.limb[limb]);
        _mm512_store_si512(y, point.y.limb[limb]);
        for (size_t lane = 0; lane < count; ++lane) {
          table[first + lane][0][limb][e] = x[lane];
          table[first + lane][1][limb][e] = y[lane];
        }
      }
    }
  }

  /// Reads all multiples into registers, whose lanes are then permuted.
  Affine<C> look_up(size_t i, const Digit& digit) const {
    Affine<C> out;
    for (size_t limb = 0; limb < kLimbs<C>; ++limb) {
      const auto at = [&](size_t coordinate) {
        const uint64_t* const words = table[i][coordinate][limb];
        return _mm512_permutex2var_epi64(_mm512_load_si512(words), digit.index, _mm512_load_si512(words + kLanes));
      };
      out.x.limb[limb] = at(0);
      out.y.limb[limb] = at(1);
    }
    negate(out, digit.negative);
    return out;
  }

  Jacobian<C> multiply(const Scalars<C>& scalars) const {
    const auto multiple = [&](size_t i) { return look_up(i, digit<kBits, kDigits>(scalars, i)); };
    const Affine<C> first = multiple(0);
    Jacobian<C> sum = {first.x, first.y, one<C>()};
    Factor<C, 2> zz = one<C>();
    for (size_t i = 1; i + 1 < kDigits; ++i)
      add_affine(sum, zz, multiple(i));
    add_last(sum, zz, multiple(kDigits - 1), settled(-times<3>(one<C>())));
    return sum;
  }

  static const FixedBase& get() {
    static const FixedBase base;
    return base;
  }
};

/// The scalars of up to eight items, 1 for those that are invalid or none; the lanes of those that are valid.
template <class C>
__mmask8 load_scalars(Scalars<C>& scalars, size_t first, size_t count, In in) {
  unsigned valid = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    Words<C::kWords> scalar{};
    const bool good = lane < count && load_scalar<C>(scalar, in.at(first + lane));
    valid |= unsigned{good} << lane;
    scalars.set(lane, good ? scalar : Words<C::kWords>{{1}});
  }
  return static_cast<__mmask8>(valid);
}

template <class C>
POLYKEM_NOINLINE void public_keys_of_block(size_t first, size_t count, In in, Out out, bool* valid) {
  Scalars<C> scalars;
  const __mmask8 good = load_scalars<C>(scalars, first, count, in);
  Affine<C> keys = to_affine(FixedBase<C>::get().multiply(scalars));
  negate(keys, scalars.negated);
  LaneWords<C> x, y;
  x.set_limbs(from_form(keys.x));
  y.set_limbs(from_form(keys.y));
  for (size_t lane = 0; lane < count; ++lane) {
    uint8_t* const key = out.at(first + lane);
    valid[first + lane] = (good >> lane & 1) != 0;
    std::memset(key, 0, 1 + 2 * C::kBytes);
    if (!valid[first + lane]) continue;
    key[0] = 4;
    to_bytes(key + 1, x.get(lane));
    to_bytes(key + 1 + C::kBytes, y.get(lane));
  }
}

template <class C>
POLYKEM_NOINLINE void shared_secrets_of_block(VariableBase<C>& base, size_t first, size_t count, In scalars_in,
                                              In points_in, Out out, bool* valid) {
  Scalars<C> scalars;
  unsigned good = load_scalars<C>(scalars, first, count, scalars_in);
  LaneWords<C> x, y;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    Words<C::kWords> px = C::kBaseX, py = C::kBaseY;
    if (lane < count && !load_point<C>(px, py, points_in.at(first + lane))) good &= ~(1u << lane);
    x.set(lane, px);
    y.set(lane, py);
  }
  Affine<C> points = {to_form(x.limbs()), to_form(y.limbs())};
  good &= on_curve(points);
  const Affine<C> valid_point = base_point<C>();
  const auto bad = static_cast<__mmask8>(~good);
  points = {select(bad, points.x, valid_point.x), select(bad, points.y, valid_point.y)};
  x.set_limbs(from_form(to_affine(base.multiply(scalars, points)).x));
  for (size_t lane = 0; lane < count; ++lane) {
    uint8_t* const secret = out.at(first + lane);
    valid[first + lane] = (good >> lane & 1) != 0;
    std::memset(secret, 0, C::kBytes);
    if (valid[first + lane]) to_bytes(secret, x.get(lane));
  }
}

template <class C>
void public_keys(size_t count, In scalars, Out points, bool* valid, std::byte* /*workspace*/) {
  for (size_t i = 0; i < count; i += kLanes)
    public_keys_of_block<C>(i, count - i < kLanes ? count - i : kLanes, scalars, points, valid);
}

template <class C>
void shared_secrets(size_t count, In scalars, In points, Out secrets, bool* valid, std::byte* workspace) {
  auto& base = *new (workspace) VariableBase<C>;
  for (size_t i = 0; i < count; i += kLanes)
    shared_secrets_of_block(base, i, count - i < kLanes ? count - i : kLanes, scalars, points, secrets, valid);
}

constexpr Implementation kP256 = {sizeof(VariableBase<P256>), public_keys<P256>, shared_secrets<P256>};
constexpr Implementation kP384 = {sizeof(VariableBase<P384>), public_keys<P384>, shared_secrets<P384>};

}  // namespace

}  // namespace POLYKEM_ISA

const Implementation& nist_avx512(Curve curve) {
  return curve == Curve::kP256 ? kP256 : kP384;
}

}  // namespace polykem::ecdh
