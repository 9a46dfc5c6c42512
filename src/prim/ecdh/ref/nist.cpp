// SPDX-License-Identifier: Apache-2.0
// Computes P-256 and P-384 an item at a time, as avx512/nist_avx512.cpp computes eight.
#include "prim/ecdh/nist.hpp"

#include <cstring>

#include "core/secure.hpp"
#include "prim/ecdh/nist_curves.hpp"
#include "prim/ecdh/once.hpp"
#include "prim/ecdh/ref/field64.hpp"

namespace polykem::ecdh {

namespace {

template <class C>
struct Affine {
  Number<C> x, y;
};

/// A point in Jacobian coordinates, which stand for the affine point (x / z^2, y / z^3).
template <class C>
struct Jacobian {
  Number<C> x, y, z;
};

template <class C>
Affine<C> base_point() {
  return {to_montgomery<C>(C::kBaseX), to_montgomery<C>(C::kBaseY)};
}

/// Doubles p on y^2 = x^3 + a x + b; az4 is a z^4 [CMO98, modified Jacobian coordinates]. Returns 8 y^4.
template <class C>
POLYKEM_NOINLINE Number<C> double_point(Jacobian<C>& p, const Number<C>& az4) {
  const Number<C> slope = triple(sqr_inlined(p.x)) + az4, yy2 = twice(sqr_inlined(p.y));
  const Number<C> xyy4 = twice(mul_inlined(p.x, yy2)), yyyy8 = twice(sqr_inlined(yy2));
  p.z = twice(mul_inlined(p.y, p.z));
  p.x = sqr_inlined(slope) - twice(xyy4);
  p.y = mul_inlined(slope, xyy4 - p.x) - yyyy8;
  return yyyy8;
}

/// Doubles p and brings az4 up to date, for a point that is doubled again.
template <class C>
void double_again(Jacobian<C>& p, Number<C>& az4) {
  az4 = twice(mul(az4, double_point(p, az4)));
}

/// Adds q to p; zz is z^2 before and after [CMO98]. Returns a number that is 0 if the points are equal; then, and if
/// p = -q, z becomes 0.
template <class C>
POLYKEM_NOINLINE Number<C> add_affine(Jacobian<C>& p, Number<C>& zz, const Affine<C>& q) {
  const Number<C> h = mul_inlined(q.x, zz) - p.x, r = mul_inlined(q.y, mul_inlined(p.z, zz)) - p.y;
  const Number<C> hh = sqr_inlined(h), hhh = mul_inlined(h, hh), v = mul_inlined(p.x, hh);
  p.z = mul_inlined(p.z, h);
  zz = sqr_inlined(p.z);
  p.x = sqr_inlined(r) - (hhh + twice(v));
  p.y = mul_inlined(r, v - p.x) - mul_inlined(p.y, hhh);
  return h;
}

/// Adds q to p, also if they are equal; p is not -q. zz is z^2, and a is the curve's coefficient a.
template <class C>
POLYKEM_NOINLINE void add_last(Jacobian<C>& p, Number<C>& zz, const Affine<C>& q, const Number<C>& a) {
  Jacobian<C> same = {q.x, q.y, one<C>()};
  double_point(same, a);
  const uint64_t equal = zero_mask(add_affine(p, zz, q));
  assign(equal, p.x, same.x);
  assign(equal, p.y, same.y);
  assign(equal, p.z, same.z);
}

/// The odd multiples of a point p: point[i] is (2 i + 1) p, on the isomorphic curve with a = -3 z^4. They are sums of
/// 2 p and the one before, each addition with the z of the last sum [MEL07]; then all are brought to the last z.
template <class C, size_t kCount>
class Multiples {
 public:
  explicit Multiples(const Affine<C>& p) {
    start(p);
    for (size_t i = 1; i < kCount; ++i)
      add_twice(i);
    share_z();
  }

  Affine<C> point[kCount];
  Number<C> z;

 private:
  POLYKEM_NOINLINE void start(const Affine<C>& p) {
    const Number<C> yy2 = twice(sqr(p.y));
    point[0] = {twice(mul(p.x, yy2)), twice(sqr(yy2))};
    twice_ = {p.x, p.y, one<C>()};
    double_point(twice_, -triple(one<C>()));
    z = twice_.z;
  }

  POLYKEM_NOINLINE void add_twice(size_t i) {
    const Affine<C>& last = point[i - 1];
    const Number<C> dx = last.x - twice_.x, dy = last.y - twice_.y, dxdx = sqr(dx);
    const Number<C> x_twice = mul(twice_.x, dxdx), x_last = mul(last.x, dxdx);
    const Number<C> y_twice = mul(twice_.y, x_last - x_twice);
    point[i].x = sqr(dy) - (x_twice + x_last);
    point[i].y = mul(dy, x_twice - point[i].x) - y_twice;
    twice_.x = x_twice;
    twice_.y = y_twice;
    z = mul(z, dx);
    ratios_[i] = dx;
  }

  POLYKEM_NOINLINE void share_z() {
    Number<C> ratio = ratios_[kCount - 1];  // the ratio of the last z to that of point i
    for (size_t i = kCount - 1; i-- > 0;) {
      const Number<C> ratio2 = sqr(ratio);
      point[i].x = mul(point[i].x, ratio2);
      point[i].y = mul(point[i].y, mul(ratio2, ratio));
      if (i > 0) ratio = mul(ratio, ratios_[i]);
    }
  }

  Jacobian<C> twice_;
  Number<C> ratios_[kCount];  // the ratios of the z of points i and i - 1
};

/// Returns the affine point (x z^-2, y z^-3); `inverse` is 1 / z.
template <class C>
Affine<C> divided(const Number<C>& x, const Number<C>& y, const Number<C>& inverse) {
  const Number<C> square = sqr(inverse);
  return {mul(x, square), mul(y, mul(square, inverse))};
}

template <class C>
POLYKEM_NOINLINE Affine<C> to_affine(const Jacobian<C>& p) {
  return divided(p.x, p.y, invert(p.z));
}

template <class C>
POLYKEM_NOINLINE bool on_curve(const Affine<C>& p) {
  const Number<C> right = mul(sqr(p.x), p.x) - triple(p.x) + to_montgomery<C>(C::kB);
  return zero_mask(sqr(p.y) - right) != 0;
}

/// An odd scalar k, as half = (k - 1) / 2.
template <class C>
struct Scalar {
  Words<C::kWords> half;
  uint64_t negated;  ///< all ones if k is n less the given scalar, else 0
};

template <class C>
void negate(Affine<C>& p, uint64_t mask) {
  assign(mask, p.y, -p.y);
}

/// Sets `out` to digit i, 2 e - (2^w - 1), times the point whose odd multiples are in the table. Reads all of them.
template <unsigned kBits, size_t kDigits, class C>
POLYKEM_NOINLINE void select_multiple(Affine<C>& out, const Affine<C> (&table)[1 << (kBits - 1)],
                                      const Scalar<C>& scalar, size_t i) {
  constexpr uint64_t kHalf = uint64_t{1} << (kBits - 1);
  const size_t at = kBits * i / 64, shift = kBits * i % 64;
  uint64_t e = at < C::kWords ? scalar.half.word[at] >> shift : 0;
  if (shift + kBits > 64 && at + 1 < C::kWords) e |= scalar.half.word[at + 1] << (64 - shift);
  if (i + 1 == kDigits) e |= kHalf;
  const uint64_t negative = ct::barrier(((e & kHalf) >> (kBits - 1)) - 1), index = (e ^ negative) & (kHalf - 1);
  out = {};
  for (uint64_t entry = 0; entry < kHalf; ++entry) {
    const uint64_t mask = ct::barrier(0 - (((entry ^ index) - 1) >> 63));
    for (size_t word = 0; word < C::kWords; ++word) {
      out.x.word[word] |= table[entry].x.word[word] & mask;
      out.y.word[word] |= table[entry].y.word[word] & mask;
    }
  }
  negate(out, negative);
}

/// Returns scalar times an arbitrary point, computed in windows of four bits.
template <class C>
POLYKEM_NOINLINE Jacobian<C> multiply(const Scalar<C>& scalar, const Affine<C>& point) {
  constexpr unsigned kBits = 4;
  constexpr size_t kDigits = 64 * C::kWords / kBits;
  const Multiples<C, 1 << (kBits - 1)> multiples(point);
  const Number<C> a = -triple(sqr(sqr(multiples.z)));
  Number<C> az4 = a, zz;
  Affine<C> addend;
  select_multiple<kBits, kDigits>(addend, multiples.point, scalar, kDigits - 1);
  Jacobian<C> sum = {addend.x, addend.y, one<C>()};
  for (size_t i = kDigits - 1; i-- > 0;) {
    for (unsigned bit = 1; bit < kBits; ++bit)
      double_again(sum, az4);
    double_point(sum, az4);
    zz = sqr(sum.z);
    select_multiple<kBits, kDigits>(addend, multiples.point, scalar, i);
    if (i == 0) break;
    add_affine(sum, zz, addend);
    az4 = mul(a, sqr(zz));
  }
  add_last(sum, zz, addend, a);
  sum.z = mul(sum.z, multiples.z);
  return sum;
}

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

  POLYKEM_NOINLINE Jacobian<C> multiply(const Scalar<C>& scalar) const {
    Affine<C> addend;
    select_multiple<kBits, kDigits>(addend, table_[0], scalar, 0);
    Jacobian<C> sum = {addend.x, addend.y, one<C>()};
    Number<C> zz = one<C>();
    for (size_t i = 1; i + 1 < kDigits; ++i) {
      select_multiple<kBits, kDigits>(addend, table_[i], scalar, i);
      add_affine(sum, zz, addend);
    }
    select_multiple<kBits, kDigits>(addend, table_[kDigits - 1], scalar, kDigits - 1);
    add_last(sum, zz, addend, -triple(one<C>()));
    return sum;
  }

 private:
  static constexpr unsigned kBits = 5;
  static constexpr size_t kDigits = 64 * C::kWords / kBits + 1, kMultiples = 1 << (kBits - 1);

  POLYKEM_NOINLINE void make() {
    const Affine<C> base = base_point<C>();
    Jacobian<C> power = {base.x, base.y, one<C>()};
    Number<C> az4 = -triple(one<C>());
    for (auto& multiples : table_) {
      fill(multiples, to_affine(power));
      for (unsigned bit = 0; bit < kBits; ++bit)
        double_again(power, az4);
    }
  }

  static POLYKEM_NOINLINE void fill(Affine<C> (&out)[kMultiples], const Affine<C>& point) {
    const Multiples<C, kMultiples> multiples(point);
    const Number<C> inverse = invert(multiples.z);
    for (size_t e = 0; e < kMultiples; ++e)
      out[e] = divided(multiples.point[e].x, multiples.point[e].y, inverse);
  }

  Affine<C> table_[kDigits][kMultiples];  // [i][e] is (2 e + 1) 2^(5 i) times the base point
};

template <class C>
bool load(Scalar<C>& scalar, const uint8_t* bytes) {
  Words<C::kWords> number;
  const bool valid = load_scalar<C>(number, bytes);
  scalar.negated = halve_odd_representative<C>(scalar.half, number);
  return valid;
}

template <class C>
POLYKEM_NOINLINE bool public_key(const uint8_t* scalar_bytes, uint8_t* out) {
  Scalar<C> scalar;
  if (!load(scalar, scalar_bytes)) {
    std::memset(out, 0, 1 + 2 * C::kBytes);
    return false;
  }
  Affine<C> point = to_affine(FixedBase<C>::get().multiply(scalar));
  negate(point, scalar.negated);
  out[0] = 4;
  to_bytes(out + 1, from_montgomery(point.x));
  to_bytes(out + 1 + C::kBytes, from_montgomery(point.y));
  return true;
}

template <class C>
POLYKEM_NOINLINE bool shared_secret(const uint8_t* scalar_bytes, const uint8_t* point_bytes, uint8_t* out) {
  Scalar<C> scalar;
  Words<C::kWords> x, y;
  const bool reduced = load_point<C>(x, y, point_bytes);
  const Affine<C> point = {to_montgomery<C>(x), to_montgomery<C>(y)};
  if (!load(scalar, scalar_bytes) || !reduced || !on_curve(point)) {
    std::memset(out, 0, C::kBytes);
    return false;
  }
  to_bytes(out, from_montgomery(to_affine(multiply(scalar, point)).x));
  return true;
}

template <class C>
void public_keys(size_t count, ConstByteRows scalars, ByteRows points, bool* valid, std::byte* /*workspace*/) {
  for (size_t i = 0; i < count; ++i)
    valid[i] = public_key<C>(scalars.at(i), points.at(i));
}

template <class C>
void shared_secrets(size_t count, ConstByteRows scalars, ConstByteRows points, ByteRows secrets, bool* valid,
                    std::byte* /*workspace*/) {
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
