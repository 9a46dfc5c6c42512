// SPDX-License-Identifier: Apache-2.0
// Computes P-256 and P-384 on eight items at a time; nist_curves.hpp says why the digits of scalars suffice.
#include <cstring>
#include <new>

#include "prim/ecdh/avx512/field52.hpp"
#include "prim/ecdh/nist.hpp"
#include "prim/ecdh/once.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

namespace {

constexpr size_t kLanes = 8;
template <class C>
inline constexpr int kPartlyReducedBound = Prime<C>::kPartlyReducedBound;

template <class C>
struct Affine {
  PartlyReduced<C> x, y;
};

/// A point in Jacobian coordinates, which stand for the affine point (x / z^2, y / z^3).
template <class C>
struct Jacobian {
  PartlyReduced<C> x, y;
  Factor<C, 4> z;
};

template <class C>
void assign(__mmask8 lanes, Affine<C>& out, const Affine<C>& a) {
  assign(lanes, out.x, a.x);
  assign(lanes, out.y, a.y);
}
template <class C>
void assign(__mmask8 lanes, Jacobian<C>& out, const Jacobian<C>& a) {
  assign(lanes, out.x, a.x);
  assign(lanes, out.y, a.y);
  assign(lanes, out.z, a.z);
}

template <class C>
Number<C, 2> one() {
  return to_montgomery<C>(Words<C::kWords>{{1}});
}

template <class C>
Affine<C> base_point() {
  return {to_montgomery<C>(C::kBaseX), to_montgomery<C>(C::kBaseY)};
}

enum class NextStep { kDouble, kAdd };

/// Doubles p on y^2 = x^3 + a x + b; az4 is a z^4 [CMO98, modified Jacobian coordinates]. If p is then doubled again,
/// az4 is brought up to date; if it is then added to, zz is set to z^2.
template <NextStep kNext, class C>
POLYKEM_NOINLINE void double_point(Jacobian<C>& p, PartlyReduced<C>& az4, Factor<C, 2>& zz) {
  Factor<C, 3 * product_bound<C>(kPartlyReducedBound<C>, kPartlyReducedBound<C>) + kPartlyReducedBound<C>> slope;
  Factor<C, 2> yy;
  {
    const auto [xx, y2] = both(square(p.x), square(p.y));
    slope = factor(times<3>(xx) + az4);
    yy = factor(y2);
  }
  Number<C, 2> yyyy;
  {
    const auto [yz, y4] = both(product(p.y, p.z), square(yy));
    yyyy = number(y4);
    p.z = factor(times<2>(yz));
  }
  const auto [slope2, xyy] = both(square(slope), product(p.x, yy));
  p.x = partly_reduced(slope2 - times<8>(xyy));
  const auto down = factor(times<4>(xyy) - p.x);
  if constexpr (kNext == NextStep::kDouble) {
    const auto [t, y] = both(product(yyyy, az4), product(slope, down));
    p.y = partly_reduced(y - times<8>(yyyy));
    az4 = partly_reduced(times<16>(t));
  } else {
    const auto [z2, y] = both(square(p.z), product(slope, down));
    p.y = partly_reduced(y - times<8>(yyyy));
    zz = factor(z2);
  }
}

/// Adds q to the point p; zz is z^2 before and after [CMO98]. Returns a number that is 0 modulo the prime if the points
/// are equal; then, and if p = -q, z becomes 0.
template <class C>
POLYKEM_NOINLINE auto add_affine(Jacobian<C>& p, Factor<C, 2>& zz, const Affine<C>& q) {
  Factor<C, 2 + kPartlyReducedBound<C>> h, r;
  Factor<C, 2> hh;
  {
    const auto [xzz, z3] = both(product(q.x, zz), product(p.z, zz));
    h = factor(xzz - p.x);
    const auto zzz = factor(z3);
    const auto [yzzz, h2] = both(product(q.y, zzz), square(h));
    r = factor(yzzz - p.y);
    hh = factor(h2);
  }
  const auto [zh, v] = both(product(p.z, h), product(p.x, hh));
  p.z = factor(zh);
  Number<C, 2> hhh;
  {
    const auto [r2, h3] = both(square(r), product(h, hh));
    hhh = number(h3);
    p.x = partly_reduced(r2 - (hhh + times<2>(v)));
  }
  const auto down = factor(v - p.x);
  const auto [z2, yhhh] = both(square(p.z), product(p.y, hhh));
  zz = factor(z2);
  p.y = partly_reduced(mul(r, down) - yhhh);
  return h;
}

/// Adds q to p, also if they are equal; p is not -q. zz is z^2, and a is the curve's coefficient a.
template <class C>
POLYKEM_NOINLINE void add_last(Jacobian<C>& p, Factor<C, 2>& zz, const Affine<C>& q, const PartlyReduced<C>& a) {
  Jacobian<C> twice = {q.x, q.y, one<C>()};
  PartlyReduced<C> az4 = a;
  double_point<NextStep::kDouble>(twice, az4, zz);
  assign(zero_lanes(add_affine(p, zz, q)), p, twice);
}

/// The odd multiples of a point p: point[i] is (2 i + 1) p, on the isomorphic curve with a = -3 z^4. They are sums of
/// 2 p and the one before, each addition with the z of the last sum [MEL07]; then all are brought to the last z.
template <class C, size_t kCount>
class Multiples {
 public:
  POLYKEM_NOINLINE void set(const Affine<C>& p) {
    start(p);
    for (size_t i = 1; i < kCount; ++i)
      add_twice(i);
    share_z();
  }

  Affine<C> point[kCount];
  Factor<C, 4> z;

 private:
  POLYKEM_NOINLINE void start(const Affine<C>& p) {
    const auto yy = factor(sqr(p.y));
    point[0].x = partly_reduced(times<4>(mul(p.x, yy)));
    point[0].y = partly_reduced(times<8>(sqr(yy)));
    twice_.x = p.x;
    twice_.y = p.y;
    twice_.z = one<C>();
    PartlyReduced<C> minus_3 = partly_reduced(-times<3>(one<C>()));
    Factor<C, 2> zz;
    double_point<NextStep::kAdd>(twice_, minus_3, zz);
    z = twice_.z;
  }

  POLYKEM_NOINLINE void add_twice(size_t i) {
    const Affine<C>& last = point[i - 1];
    const auto dx = factor(last.x - twice_.x), dy = factor(last.y - twice_.y);
    const auto dxdx = factor(sqr(dx));
    const auto x_twice = number(mul(twice_.x, dxdx)), x_last = number(mul(last.x, dxdx));
    const auto y_twice = number(mul(twice_.y, factor(x_last - x_twice)));
    point[i].x = partly_reduced(sqr(dy) - (x_twice + x_last));
    point[i].y = partly_reduced(mul(dy, factor(x_twice - point[i].x)) - y_twice);
    twice_.x = x_twice;
    twice_.y = y_twice;
    z = factor(mul(z, dx));
    ratios_[i] = dx;
  }

  POLYKEM_NOINLINE void share_z() {
    auto ratio = ratios_[kCount - 1];  // the ratio of the last z to that of point i
    for (size_t i = kCount - 1; i-- > 0;) {
      const auto ratio2 = factor(sqr(ratio));
      point[i].x = number(mul(point[i].x, ratio2));
      point[i].y = number(mul(point[i].y, factor(mul(ratio2, ratio))));
      if (i > 0) ratio = factor(mul(ratio, ratios_[i]));
    }
  }

  Jacobian<C> twice_;
  Factor<C, 2 * kPartlyReducedBound<C>> ratios_[kCount];  // the ratios of the z of points i and i - 1
};

template <class C>
POLYKEM_NOINLINE void to_affine(Affine<C>& out, const Jacobian<C>& p) {
  const auto inverse = invert(factor(mul(p.z, one<C>()))), square = factor(sqr(inverse));
  out.x = number(mul(p.x, square));
  out.y = number(mul(p.y, factor(mul(square, inverse))));
}

template <class C>
POLYKEM_NOINLINE __mmask8 on_curve(const Affine<C>& p) {
  const auto right = mul(factor(sqr(p.x)), p.x) - times<3>(p.x) + to_montgomery<C>(C::kB);
  return zero_lanes(factor(sqr(p.y) - right));
}

/// Eight numbers; word i of all of them is side by side.
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

  /// Returns `count` bits of each number from bit `from` on, count < 64; bits beyond the last word are 0.
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

/// The odd scalars k of eight items, as half = (k - 1) / 2. k is n less the given scalar in the lanes `negated`.
template <class C>
struct Scalars {
  LaneWords<C> half;
  __mmask8 negated;

  void set(size_t lane, const Words<C::kWords>& scalar) {
    Words<C::kWords> halved;
    const uint64_t minus = halve_odd_representative<C>(halved, scalar);
    half.set(lane, halved);
    negated = static_cast<__mmask8>(negated | (minus & 1) << lane);
  }
};

/// A digit 2 e - (2^w - 1) of each scalar; its absolute value is 2 index + 1.
struct Digit {
  V index;
  __mmask8 negative;
};
template <unsigned kBits, size_t kDigits, class C>
Digit digit_of(const Scalars<C>& scalars, size_t i) {
  const V half = all_lanes(uint64_t{1} << (kBits - 1)), low = all_lanes((uint64_t{1} << (kBits - 1)) - 1);
  V e = kBits * i < 64 * C::kWords ? scalars.half.bits(kBits * i, kBits) : _mm512_setzero_si512();
  if (i + 1 == kDigits) e |= half;
  const __mmask8 negative = _mm512_testn_epi64_mask(e, half);
  return {_mm512_mask_xor_epi64(e & low, negative, e, low), negative};
}

template <class C>
void negate(Affine<C>& p, __mmask8 lanes) {
  assign(lanes, p.y, partly_reduced(-p.y));
}

/// The variables of eight items.
template <class C>
struct Workspace {
  Scalars<C> scalars;
  LaneWords<C> x, y;
  Affine<C> point, addend;
  Multiples<C, 8> multiples;
  Jacobian<C> sum;
  PartlyReduced<C> a, az4;
  Factor<C, 2> zz;
};

/// Multiplies arbitrary points, in windows of four bits.
template <class C>
struct VariableBase {
  static constexpr unsigned kBits = 4;
  static constexpr size_t kDigits = 64 * C::kWords / kBits;

  /// Sets w.addend to digit i times w.point. Reads all multiples.
  static POLYKEM_NOINLINE void select_multiple(Workspace<C>& w, size_t i) {
    constexpr size_t kCount = 1 << (kBits - 1);
    const Digit digit = digit_of<kBits, kDigits>(w.scalars, i);
    __mmask8 here[kCount];
    for (size_t index = 0; index < kCount; ++index)
      here[index] = _mm512_cmpeq_epi64_mask(digit.index, all_lanes(index));
    const Affine<C>(&point)[kCount] = w.multiples.point;
    for (size_t limb = 0; limb < kLimbs<C>; ++limb) {
      V x = point[0].x.limb[limb], y = point[0].y.limb[limb];
#pragma GCC unroll 8
      for (size_t index = 1; index < kCount; ++index) {
        x = _mm512_mask_mov_epi64(x, here[index], point[index].x.limb[limb]);
        y = _mm512_mask_mov_epi64(y, here[index], point[index].y.limb[limb]);
      }
      w.addend.x.limb[limb] = x;
      w.addend.y.limb[limb] = y;
    }
    negate(w.addend, digit.negative);
  }

  /// Sets w.sum to w.scalars times w.point.
  static POLYKEM_NOINLINE void multiply(Workspace<C>& w) {
    w.multiples.set(w.point);
    w.a = partly_reduced(-times<3>(sqr(factor(sqr(w.multiples.z)))));
    w.az4 = w.a;
    select_multiple(w, kDigits - 1);
    w.sum.x = w.addend.x;
    w.sum.y = w.addend.y;
    w.sum.z = one<C>();
    for (size_t i = kDigits - 1; i-- > 0;) {
      for (unsigned bit = 1; bit < kBits; ++bit)
        double_point<NextStep::kDouble>(w.sum, w.az4, w.zz);
      double_point<NextStep::kAdd>(w.sum, w.az4, w.zz);
      select_multiple(w, i);
      if (i == 0) break;
      add_affine(w.sum, w.zz, w.addend);
      w.az4 = number(mul(w.a, factor(sqr(w.zz))));
    }
    add_last(w.sum, w.zz, w.addend, w.a);
    w.sum.z = factor(mul(w.sum.z, w.multiples.z));
  }
};

/// Multiplies the base point. A table has 16 multiples for each digit of five bits, so that nothing is doubled.
template <class C>
class FixedBase {
 public:
  /// Returns the table, which is made when it is first used.
  static const FixedBase& get() {
    static FixedBase base;
    static Once once;
    once.call([] { base.make(); });
    return base;
  }

  /// Sets w.sum to w.scalars times the base point.
  POLYKEM_NOINLINE void multiply(Workspace<C>& w) const {
    select_multiple(w, 0);
    w.sum.x = w.addend.x;
    w.sum.y = w.addend.y;
    w.sum.z = one<C>();
    w.zz = one<C>();
    for (size_t i = 1; i + 1 < kDigits; ++i) {
      select_multiple(w, i);
      add_affine(w.sum, w.zz, w.addend);
    }
    select_multiple(w, kDigits - 1);
    w.a = partly_reduced(-times<3>(one<C>()));
    add_last(w.sum, w.zz, w.addend, w.a);
  }

 private:
  static constexpr unsigned kBits = 5;
  static constexpr size_t kDigits = 64 * C::kWords / kBits + 1, kMultiples = 1 << (kBits - 1);

  /// The variables of make(), which are too large for a fibre's stack.
  struct TableScratch {
    Multiples<C, kMultiples> multiples;
    Affine<C> point;
    Jacobian<C> power, powers;
    PartlyReduced<C> az4;
    Factor<C, 2> zz;
  };

  POLYKEM_NOINLINE void make() {
    static TableScratch scratch;
    scratch.point = base_point<C>();
    scratch.power.x = scratch.point.x;
    scratch.power.y = scratch.point.y;
    scratch.power.z = one<C>();
    scratch.az4 = partly_reduced(-times<3>(one<C>()));
    scratch.powers = scratch.power;
    for (size_t i = 0; i < kDigits; ++i) {
      assign(static_cast<__mmask8>(1 << i % kLanes), scratch.powers, scratch.power);
      if (i % kLanes == kLanes - 1 || i == kDigits - 1) fill(scratch, i - i % kLanes, i % kLanes + 1);
      for (unsigned bit = 0; bit < kBits; ++bit)
        double_point<NextStep::kDouble>(scratch.power, scratch.az4, scratch.zz);
    }
  }

  /// Fills the table at digits first to first + count - 1, whose points are in the first lanes of `powers`.
  POLYKEM_NOINLINE void fill(TableScratch& scratch, size_t first, size_t count) {
    Affine<C>& point = scratch.point;
    to_affine(point, scratch.powers);
    scratch.multiples.set(point);
    const auto inverse = invert(factor(mul(scratch.multiples.z, one<C>()))), square = factor(sqr(inverse));
    const auto cube = factor(mul(square, inverse));
    for (size_t e = 0; e < kMultiples; ++e) {
      point.x = number(mul(scratch.multiples.point[e].x, square));
      point.y = number(mul(scratch.multiples.point[e].y, cube));
      for (size_t limb = 0; limb < kLimbs<C>; ++limb) {
        alignas(64) uint64_t x[kLanes], y[kLanes];
        _mm512_store_si512(x, point.x.limb[limb]);
        _mm512_store_si512(y, point.y.limb[limb]);
        for (size_t lane = 0; lane < count; ++lane) {
          table_[first + lane][0][limb][e] = x[lane];
          table_[first + lane][1][limb][e] = y[lane];
        }
      }
    }
  }

  /// Sets w.addend to digit i times 2^(5 i) times the base point. Reads all multiples into registers and permutes their
  /// lanes.
  POLYKEM_NOINLINE void select_multiple(Workspace<C>& w, size_t i) const {
    const Digit digit = digit_of<kBits, kDigits>(w.scalars, i);
    const auto permuted = [&](const uint64_t(&words)[kMultiples]) {
      return _mm512_permutex2var_epi64(_mm512_load_si512(words), digit.index, _mm512_load_si512(words + kLanes));
    };
    for (size_t limb = 0; limb < kLimbs<C>; ++limb) {
      w.addend.x.limb[limb] = permuted(table_[i][0][limb]);
      w.addend.y.limb[limb] = permuted(table_[i][1][limb]);
    }
    negate(w.addend, digit.negative);
  }

  /// table_[i][c][l][e] is limb l of coordinate c of (2 e + 1) 2^(5 i) times the base point.
  alignas(64) uint64_t table_[kDigits][2][kLimbs<C>][kMultiples];
};

/// Loads the scalars of up to eight items, and 1 into lanes that have none or an invalid one. Returns the lanes with a
/// valid scalar.
template <class C>
POLYKEM_NOINLINE unsigned load_scalars(Scalars<C>& scalars, size_t first, size_t count, ConstByteRows in) {
  unsigned valid = 0;
  scalars.negated = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    Words<C::kWords> scalar{};
    const bool good = lane < count && load_scalar<C>(scalar, in.at(first + lane));
    valid |= unsigned{good} << lane;
    scalars.set(lane, good ? scalar : Words<C::kWords>{{1}});
  }
  return valid;
}

/// Sets w.point to the points of up to eight items, and to the base point in lanes that have none or an invalid one.
/// Returns the lanes with a valid point.
template <class C>
POLYKEM_NOINLINE unsigned load_points(Workspace<C>& w, size_t first, size_t count, ConstByteRows in) {
  unsigned valid = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    Words<C::kWords> x{}, y{};
    valid |= unsigned{lane < count && load_point<C>(x, y, in.at(first + lane))} << lane;
    w.x.set(lane, x);
    w.y.set(lane, y);
  }
  w.point = {to_montgomery(w.x.limbs()), to_montgomery(w.y.limbs())};
  valid &= on_curve(w.point);
  assign(static_cast<__mmask8>(~valid), w.point, base_point<C>());
  return valid;
}

template <class C>
void public_keys_of_eight(Workspace<C>& w, size_t first, size_t count, ConstByteRows scalars, ByteRows out,
                          bool* valid) {
  const unsigned good = load_scalars(w.scalars, first, count, scalars);
  FixedBase<C>::get().multiply(w);
  to_affine(w.point, w.sum);
  negate(w.point, w.scalars.negated);
  w.x.set_limbs(from_montgomery(w.point.x));
  w.y.set_limbs(from_montgomery(w.point.y));
  for (size_t lane = 0; lane < count; ++lane) {
    uint8_t* const key = out.at(first + lane);
    valid[first + lane] = (good >> lane & 1) != 0;
    std::memset(key, 0, 1 + 2 * C::kBytes);
    if (!valid[first + lane]) continue;
    key[0] = 4;
    to_bytes(key + 1, w.x.get(lane));
    to_bytes(key + 1 + C::kBytes, w.y.get(lane));
  }
}

template <class C>
void shared_secrets_of_eight(Workspace<C>& w, size_t first, size_t count, ConstByteRows scalars, ConstByteRows points,
                             ByteRows out, bool* valid) {
  const unsigned good = load_scalars(w.scalars, first, count, scalars) & load_points(w, first, count, points);
  VariableBase<C>::multiply(w);
  to_affine(w.point, w.sum);
  w.x.set_limbs(from_montgomery(w.point.x));
  for (size_t lane = 0; lane < count; ++lane) {
    uint8_t* const secret = out.at(first + lane);
    valid[first + lane] = (good >> lane & 1) != 0;
    std::memset(secret, 0, C::kBytes);
    if (valid[first + lane]) to_bytes(secret, w.x.get(lane));
  }
}

template <class C>
void public_keys(size_t count, ConstByteRows scalars, ByteRows points, bool* valid, std::byte* workspace) {
  auto& w = *new (workspace) Workspace<C>;
  for (size_t i = 0; i < count; i += kLanes)
    public_keys_of_eight(w, i, count - i < kLanes ? count - i : kLanes, scalars, points, valid);
}

template <class C>
void shared_secrets(size_t count, ConstByteRows scalars, ConstByteRows points, ByteRows secrets, bool* valid,
                    std::byte* workspace) {
  auto& w = *new (workspace) Workspace<C>;
  for (size_t i = 0; i < count; i += kLanes)
    shared_secrets_of_eight(w, i, count - i < kLanes ? count - i : kLanes, scalars, points, secrets, valid);
}

constexpr Implementation kP256 = {sizeof(Workspace<P256>), public_keys<P256>, shared_secrets<P256>};
constexpr Implementation kP384 = {sizeof(Workspace<P384>), public_keys<P384>, shared_secrets<P384>};

}  // namespace

}  // namespace POLYKEM_ISA

const Implementation& nist_avx512(Curve curve) {
  return curve == Curve::kP256 ? kP256 : kP384;
}

}  // namespace polykem::ecdh
