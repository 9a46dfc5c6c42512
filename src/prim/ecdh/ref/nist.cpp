// SPDX-License-Identifier: Apache-2.0
// P-256 and P-384 an item at a time: homogeneous coordinates and one complete addition, which also doubles and knows no
// exceptional points, so that nothing but the codec tells one scalar from another.
#include "prim/ecdh/nist.hpp"

#include <cstring>
#include <type_traits>

#include "core/secure.hpp"
#include "prim/ecdh/nist_curves.hpp"

namespace polykem::ecdh {

namespace {

/// Numbers modulo p, below p, in Montgomery's form: x stands for x R^-1, R = 2^(64 kWords).
template <class C>
struct Field {
  static constexpr size_t kWords = C::kWords;
  using Number = Words<kWords>;

  /// a if the mask is all ones, b if it is 0.
  static constexpr Number select(uint64_t mask, const Number& a, const Number& b) {
    if (!std::is_constant_evaluated()) mask = ct::barrier(mask);
    Number out{};
    for (size_t i = 0; i < kWords; ++i)
      out.word[i] = (a.word[i] & mask) | (b.word[i] & ~mask);
    return out;
  }

  /// x + carry R - p if that is not negative, else x; x + carry R < 2 p.
  static constexpr Number reduce_once(const Number& x, uint64_t carry) {
    Number less_p{};
    const uint64_t borrow = subtract(less_p, x, C::kP);
    return select(carry - borrow, x, less_p);
  }

  static constexpr Number add(const Number& a, const Number& b) {
    Number sum{};
    uint64_t carry = 0;
    for (size_t i = 0; i < kWords; ++i) {
      const Wide step = Wide{a.word[i]} + b.word[i] + carry;
      sum.word[i] = static_cast<uint64_t>(step);
      carry = static_cast<uint64_t>(step >> 64);
    }
    return reduce_once(sum, carry);
  }

  static constexpr Number sub(const Number& a, const Number& b) {
    Number minus_b{};
    subtract(minus_b, C::kP, b);
    return add(a, minus_b);
  }

  /// -1 / p modulo 2^64, by Newton's iteration, which doubles the number of right bits.
  static constexpr uint64_t minus_inverse() {
    uint64_t inverse = 1;
    for (int bits = 1; bits < 64; bits *= 2)
      inverse *= 2 - C::kP.word[0] * inverse;
    return 0 - inverse;
  }

  /// a b / R.
  static constexpr Number mul(const Number& a, const Number& b) {
    constexpr uint64_t kMinusInverse = minus_inverse();
    Number sum{};
    uint64_t top = 0;
    for (size_t i = 0; i < kWords; ++i) {
      const uint64_t factor = (sum.word[0] + a.word[0] * b.word[i]) * kMinusInverse;
      Wide product = Wide{a.word[0]} * b.word[i] + sum.word[0];
      Wide multiple = Wide{factor} * C::kP.word[0] + static_cast<uint64_t>(product);
      for (size_t j = 1; j < kWords; ++j) {
        product = Wide{a.word[j]} * b.word[i] + sum.word[j] + (product >> 64);
        multiple = Wide{factor} * C::kP.word[j] + static_cast<uint64_t>(product) + (multiple >> 64);
        sum.word[j - 1] = static_cast<uint64_t>(multiple);
      }
      const Wide last = Wide{top} + (product >> 64) + (multiple >> 64);
      sum.word[kWords - 1] = static_cast<uint64_t>(last);
      top = static_cast<uint64_t>(last >> 64);
    }
    return reduce_once(sum, top);
  }

  /// 2^doublings R modulo p.
  static constexpr Number power_of_two(size_t doublings) {
    Number power{};
    subtract(power, power, C::kP);  // R - p, as 2^(64 kWords - 1) < p
    while (doublings-- > 0)
      power = add(power, power);
    return power;
  }
  static constexpr Number to_form(const Number& x) { return mul(x, power_of_two(64 * kWords)); }
  static constexpr Number from_form(const Number& x) { return mul(x, {{1}}); }

  static constexpr Number kOne = power_of_two(0), kB = to_form(C::kB);

  /// x^(p - 2) = 1 / x; zero for zero.
  static Number invert(const Number& x) {
    Number exponent{};
    subtract(exponent, C::kP, Number{{2}});
    Number power = kOne;
    for (size_t i = 64 * kWords; i-- > 0;) {
      power = mul(power, power);
      if ((exponent.word[i / 64] >> (i % 64) & 1) != 0) power = mul(power, x);
    }
    return power;
  }
};

template <class C>
struct Point {
  using F = Field<C>;
  using Number = typename F::Number;
  Number x, y, z;  ///< the affine point (x / z, y / z); (0 : 1 : 0) is the neutral element

  static Point neutral() { return {{}, F::kOne, {}}; }
  static Point base() { return {F::to_form(C::kBaseX), F::to_form(C::kBaseY), F::kOne}; }

  bool on_curve() const {
    const Number cube = F::mul(F::mul(x, x), x), three_x = F::add(F::add(x, x), x);
    const Number difference = F::sub(F::mul(y, y), F::add(F::sub(cube, three_x), F::kB));
    uint64_t bits = 0;
    for (const uint64_t word : difference.word)
      bits |= word;
    return bits == 0;
  }
};

template <class F>
typename F::Number triple(const typename F::Number& x) {
  return F::add(F::add(x, x), x);
}

/// a + b for any two points of the curve. [RCB16, Algorithm 4]
template <class C>
Point<C> add(const Point<C>& a, const Point<C>& b) {
  using F = Field<C>;
  const auto xx = F::mul(a.x, b.x), yy = F::mul(a.y, b.y), zz = F::mul(a.z, b.z);
  const auto xy = F::sub(F::mul(F::add(a.x, a.y), F::add(b.x, b.y)), F::add(xx, yy));  // a.x b.y + a.y b.x
  const auto yz = F::sub(F::mul(F::add(a.y, a.z), F::add(b.y, b.z)), F::add(yy, zz));
  const auto xz = F::sub(F::mul(F::add(a.x, a.z), F::add(b.x, b.z)), F::add(xx, zz));
  const auto s = triple<F>(F::sub(xz, F::mul(F::kB, zz)));
  const auto plus = F::add(yy, s), minus = F::sub(yy, s);
  const auto u = triple<F>(F::sub(F::sub(F::mul(F::kB, xz), triple<F>(zz)), xx));
  const auto w = triple<F>(F::sub(xx, zz));
  return {F::sub(F::mul(xy, plus), F::mul(yz, u)), F::add(F::mul(plus, minus), F::mul(w, u)),
          F::add(F::mul(yz, minus), F::mul(xy, w))};
}

/// table[index], having read all of it.
template <class C>
Point<C> look_up(const Point<C> (&table)[16], uint64_t index) {
  Point<C> out = table[0];
  for (uint64_t i = 1; i < 16; ++i) {
    const uint64_t mask = 0 - (((i ^ index) - 1) >> 63);
    out.x = Field<C>::select(mask, table[i].x, out.x);
    out.y = Field<C>::select(mask, table[i].y, out.y);
    out.z = Field<C>::select(mask, table[i].z, out.z);
  }
  return out;
}

/// scalar times the point, four bits at a time. The affine coordinates, not in Montgomery's form.
template <class C>
void multiply(Words<C::kWords>& x, Words<C::kWords>& y, const Words<C::kWords>& scalar, const Point<C>& point) {
  using F = Field<C>;
  Point<C> table[16] = {Point<C>::neutral()};
  for (size_t i = 1; i < 16; ++i)
    table[i] = add(table[i - 1], point);
  Point<C> sum = Point<C>::neutral();
  for (size_t i = 16 * C::kWords; i-- > 0;) {
    for (int doubling = 0; doubling < 4; ++doubling)
      sum = add(sum, sum);
    sum = add(sum, look_up(table, scalar.word[i / 16] >> (4 * (i % 16)) & 15));
  }
  const auto inverse = F::invert(sum.z);
  x = F::from_form(F::mul(sum.x, inverse));
  y = F::from_form(F::mul(sum.y, inverse));
}

template <class C>
POLYKEM_NOINLINE bool public_key(const uint8_t* scalar_bytes, uint8_t* out) {
  Words<C::kWords> scalar, x, y;
  if (!load_scalar<C>(scalar, scalar_bytes)) {
    std::memset(out, 0, 1 + 2 * C::kBytes);
    return false;
  }
  multiply(x, y, scalar, Point<C>::base());
  out[0] = 4;
  to_bytes(out + 1, x);
  to_bytes(out + 1 + C::kBytes, y);
  return true;
}

template <class C>
POLYKEM_NOINLINE bool shared_secret(const uint8_t* scalar_bytes, const uint8_t* point_bytes, uint8_t* out) {
  Words<C::kWords> scalar, x, y;
  const bool reduced = load_point<C>(x, y, point_bytes);
  const Point<C> point = {Field<C>::to_form(x), Field<C>::to_form(y), Field<C>::kOne};
  if (!load_scalar<C>(scalar, scalar_bytes) || !reduced || !point.on_curve()) {
    std::memset(out, 0, C::kBytes);
    return false;
  }
  multiply(x, y, scalar, point);
  to_bytes(out, x);
  return true;
}

template <class C>
void public_keys(size_t count, In scalars, Out points, bool* valid, std::byte* /*workspace*/) {
  for (size_t i = 0; i < count; ++i)
    valid[i] = public_key<C>(scalars.at(i), points.at(i));
}

template <class C>
void shared_secrets(size_t count, In scalars, In points, Out secrets, bool* valid, std::byte* /*workspace*/) {
  for (size_t i = 0; i < count; ++i)
    valid[i] = shared_secret<C>(scalars.at(i), points.at(i), secrets.at(i));
}

constexpr Implementation kP256 = {0, public_keys<P256>, shared_secrets<P256>};
constexpr Implementation kP384 = {0, public_keys<P384>, shared_secrets<P384>};

}  // namespace

const Implementation& nist_portable(Curve curve) {
  return curve == Curve::kP256 ? kP256 : kP384;
}

}  // namespace polykem::ecdh
