// SPDX-License-Identifier: Apache-2.0
// Tests P-256 and P-384: known answers, and every implementation compared with OpenSSL's point arithmetic.
#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include <memory>

#include "core/backend.hpp"
#include "core/secure.hpp"
#include "ct/ct.hpp"
#include "prim/ecdh/nist.hpp"
#include "support/batch.hpp"

namespace polykem::ecdh {
namespace {

using test::Bytes;
using test::from_hex;
using test::Noise;

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Point = std::unique_ptr<EC_POINT, Freed<EC_POINT_free>>;

Number number(const Bytes& bytes) {
  return Number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
}
Number number(unsigned long small) {
  Number out(BN_new());
  BN_set_word(out.get(), small);
  return out;
}

/// A curve, computed by OpenSSL.
class OtherCurve {
 public:
  explicit OtherCurve(Curve curve)
      : size_(info(curve)),
        group_(EC_GROUP_new_by_curve_name(curve == Curve::kP256 ? NID_X9_62_prime256v1 : NID_secp384r1)) {}

  const EC_GROUP* group() const { return group_.get(); }
  const BIGNUM* order() const { return EC_GROUP_get0_order(group()); }
  Number modulus() const {
    Number p(BN_new());
    EC_GROUP_get_curve(group(), p.get(), nullptr, nullptr, nullptr);
    return p;
  }
  /// Returns the scalar a - b or a + b, which must not be negative.
  Bytes minus(const BIGNUM* a, const BIGNUM* b) const {
    Number out(BN_new());
    BN_sub(out.get(), a, b);
    return bytes(out.get());
  }
  Bytes plus(const BIGNUM* a, const BIGNUM* b) const {
    Number out(BN_new());
    BN_add(out.get(), a, b);
    return bytes(out.get());
  }
  Bytes bytes(const BIGNUM* number) const {
    Bytes out(size_.scalar_bytes);
    EXPECT_EQ(BN_bn2binpad(number, out.data(), static_cast<int>(out.size())), static_cast<int>(out.size()));
    return out;
  }

  Bytes public_key(const Bytes& scalar) const {
    const Point product(EC_POINT_new(group()));
    EC_POINT_mul(group(), product.get(), number(scalar).get(), nullptr, nullptr, nullptr);
    return encode(product.get());
  }
  Bytes shared_secret(const Bytes& scalar, const Bytes& other) const {
    const Point point(EC_POINT_new(group())), product(EC_POINT_new(group()));
    EXPECT_EQ(EC_POINT_oct2point(group(), point.get(), other.data(), other.size(), nullptr), 1);
    EC_POINT_mul(group(), product.get(), nullptr, point.get(), number(scalar).get(), nullptr);
    const Bytes encoded = encode(product.get());
    return Bytes(encoded.begin() + 1, encoded.begin() + 1 + static_cast<long>(size_.secret_bytes));
  }
  /// Returns a point with this x coordinate; empty if there is none.
  Bytes lift(const BIGNUM* x) const {
    const Point point(EC_POINT_new(group()));
    if (EC_POINT_set_compressed_coordinates(group(), point.get(), x, 0, nullptr) != 1) return {};
    return encode(point.get());
  }
  /// Returns a scalar in [1, n - 1].
  Bytes random_scalar(Noise& noise) const {
    Number out(BN_new()), one = number(1), range(BN_dup(order()));
    BN_sub_word(range.get(), 1);
    const std::unique_ptr<BN_CTX, Freed<BN_CTX_free>> context(BN_CTX_new());
    BN_mod(out.get(), number(noise.bytes(size_.scalar_bytes + 8)).get(), range.get(), context.get());
    return plus(out.get(), one.get());
  }

 private:
  Bytes encode(const EC_POINT* point) const {
    Bytes out(size_.point_bytes);
    EXPECT_EQ(EC_POINT_point2oct(group(), point, POINT_CONVERSION_UNCOMPRESSED, out.data(), out.size(), nullptr),
              out.size());
    return out;
  }

  CurveInfo size_;
  std::unique_ptr<EC_GROUP, Freed<EC_GROUP_free>> group_;
};

struct Tested {
  Curve curve;
  bool avx512;
};

std::string name_of(const Tested& tested) {
  return std::string(tested.curve == Curve::kP256 ? "P256" : "P384") + (tested.avx512 ? "_avx512" : "_portable");
}
void PrintTo(const Tested& tested, std::ostream* out) {
  *out << name_of(tested);
}

class EcdhNist : public ::testing::TestWithParam<Tested> {
 protected:
  void SetUp() override {
    if (GetParam().avx512 && !cpu_backend_available(cpu::kAvx512)) GTEST_SKIP() << "this CPU has no AVX-512";
  }
  const Implementation& tested() const {
#if defined(POLYKEM_TEST_AVX512) && defined(__x86_64__)
    if (GetParam().avx512) return nist_avx512(GetParam().curve);
#endif
    return nist_portable(GetParam().curve);
  }
  std::byte* workspace() const {
    if (workspace_.size() < tested().workspace_bytes + 64) workspace_.resize(tested().workspace_bytes + 64);
    void* at = workspace_.data();
    size_t space = workspace_.size();
    return static_cast<std::byte*>(std::align(64, tested().workspace_bytes, at, space));
  }
  size_t scalar_bytes() const {
    return info(GetParam().curve).scalar_bytes;
  }
  size_t point_bytes() const {
    return info(GetParam().curve).point_bytes;
  }

  /// Returns scalars for which windows, digits or additions are special cases.
  std::vector<Bytes> edge_scalars() const {
    std::vector<Bytes> out;
    const BIGNUM* n = other.order();
    const Number zero = number(0);
    for (unsigned long small = 1; small <= 66; ++small) {
      out.push_back(other.bytes(number(small).get()));
      out.push_back(other.minus(n, number(small).get()));
    }
    Number half(BN_new());
    BN_rshift1(half.get(), n);  // (n - 1) / 2
    out.push_back(other.bytes(half.get()));
    out.push_back(other.plus(half.get(), number(1).get()));
    for (int bit = 0; bit < static_cast<int>(8 * scalar_bytes()); ++bit) {
      Number power(BN_new());
      BN_set_bit(power.get(), bit);
      out.push_back(other.bytes(power.get()));
      out.push_back(other.minus(n, power.get()));
      BN_sub_word(power.get(), 1);
      if (bit > 1) out.push_back(other.bytes(power.get()));
    }
    Number whole(BN_new());
    BN_set_bit(whole.get(), static_cast<int>(8 * scalar_bytes()));
    out.push_back(other.minus(whole.get(), n));
    if (GetParam().curve == Curve::kP384) {  // the base point's last addition doubles: 15 * 2^381 - n
      Number multiple(BN_new());
      BN_lshift(multiple.get(), number(15).get(), 381);
      out.push_back(other.minus(multiple.get(), n));
    }
    for (const uint8_t byte : {0x0f, 0xf0, 0x01, 0x10, 0x80, 0x08, 0x77, 0x88})
      out.emplace_back(scalar_bytes(), byte);
    for (size_t from = 0; from < scalar_bytes(); from += 3) {
      Bytes scalar(scalar_bytes(), 0xa5);
      for (size_t i = from; i < std::min(from + 7, scalar_bytes()); ++i)
        scalar[i] = 0;
      out.push_back(scalar);
    }
    return out;
  }

  std::vector<Bytes> public_keys(const std::vector<Bytes>& scalars) const {
    std::vector<Bytes> out;
    const Bytes joined = join(scalars);
    Bytes points(scalars.size() * point_bytes(), 0xee);
    const auto valid = std::make_unique<bool[]>(scalars.size());
    tested().public_keys(scalars.size(), {joined.data(), scalar_bytes()}, {points.data(), point_bytes()}, valid.get(),
                         workspace());
    for (size_t i = 0; i < scalars.size(); ++i) {
      EXPECT_TRUE(valid[i]) << i;
      out.push_back(part(points, i, point_bytes()));
    }
    return out;
  }
  /// Item i is scalar i and point i; an invalid one has an empty secret.
  std::vector<Bytes> shared_secrets(const std::vector<Bytes>& scalars, const std::vector<Bytes>& points) const {
    std::vector<Bytes> out;
    const Bytes joined = join(scalars), joined_points = join(points);
    Bytes secrets(scalars.size() * scalar_bytes(), 0xee);
    const auto valid = std::make_unique<bool[]>(scalars.size());
    tested().shared_secrets(scalars.size(), {joined.data(), scalar_bytes()}, {joined_points.data(), point_bytes()},
                            {secrets.data(), scalar_bytes()}, valid.get(), workspace());
    for (size_t i = 0; i < scalars.size(); ++i) {
      out.push_back(part(secrets, i, scalar_bytes()));
      if (valid[i]) continue;
      EXPECT_EQ(out.back(), Bytes(scalar_bytes())) << i;
      out.back().clear();
    }
    return out;
  }

  static Bytes join(const std::vector<Bytes>& records) {
    Bytes out;
    for (const Bytes& record : records)
      out.insert(out.end(), record.begin(), record.end());
    return out;
  }
  static Bytes part(const Bytes& records, size_t i, size_t bytes) {
    return Bytes(records.begin() + static_cast<long>(i * bytes), records.begin() + static_cast<long>((i + 1) * bytes));
  }

  const OtherCurve other{GetParam().curve};

 private:
  mutable std::vector<std::byte> workspace_;
};

struct Answer {
  const char *scalar, *x, *y;
};
// [RFC5903, 8.1 and 8.2]: both sides' keys, and the x coordinate of their secret.
constexpr Answer kSides[2][2] = {
    {{"c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433",
      "dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180",
      "5271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3"},
     {"c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53",
      "d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63",
      "56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab"}},
    {{"099f3c7034d4a2c699884d73a375a67f7624ef7c6b3c0f160647b67414dce655e35b538041e649ee3faef896783ab194",
      "667842d7d180ac2cde6f74f37551f55755c7645c20ef73e31634fe72b4c55ee6de3ac808acb4bdb4c88732aee95f41aa",
      "9482ed1fc0eeb9cafc4984625ccfc23f65032149e0e144ada024181535a0f38eeb9fcff3c2c947dae69b4c634573a81c"},
     {"41cb0779b4bdb85d47846725fbec3c9430fab46cc8dc5060855cc9bda0aa2942e0308312916b8ed2960e4bd55a7448fc",
      "e558dbef53eecde3d3fccfc1aea08a89a987475d12fd950d83cfa41732bc509d0d1ac43a0336def96fda41d0774a3571",
      "dcfbec7aacf3196472169e838430367f66eebe3c6e70c416dd5f0c68759dd1fff83fa40142209dff5eaad96db9e6386c"}}};
constexpr const char* kSecrets[2] = {
    "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de",
    "11187331c279962d93d604243fd592cb9d0a926f422e47187521287e7156c5c4d603135569b9e9d09cf5d4a270f59746"};

TEST_P(EcdhNist, KnownAnswers) {
  const int row = GetParam().curve == Curve::kP384 ? 1 : 0;
  const Answer(&sides)[2] = kSides[row];
  std::vector<Bytes> scalars, points;
  for (const Answer& side : sides) {
    scalars.push_back(from_hex(side.scalar));
    points.push_back(from_hex(std::string("04") + side.x + side.y));
  }
  EXPECT_EQ(public_keys(scalars), points);
  std::swap(points[0], points[1]);
  const Bytes secret = from_hex(kSecrets[row]);
  EXPECT_EQ(shared_secrets(scalars, points), (std::vector<Bytes>{secret, secret}));
}

TEST_P(EcdhNist, AgreesWithOpensslOnRandomItems) {
  Noise noise(5);
  std::vector<Bytes> scalars, points, want_points, want_secrets;
  const size_t count = GetParam().curve == Curve::kP256 ? 2003 : 1003;
  Bytes point = other.public_key(other.random_scalar(noise));
  for (size_t i = 0; i < count; ++i) {
    scalars.push_back(other.random_scalar(noise));
    points.push_back(point);
    want_points.push_back(other.public_key(scalars.back()));
    want_secrets.push_back(other.shared_secret(scalars.back(), point));
    point = want_points.back();
  }
  EXPECT_EQ(public_keys(scalars), want_points);
  EXPECT_EQ(shared_secrets(scalars, points), want_secrets);
}

TEST_P(EcdhNist, EdgeScalars) {
  Noise noise(6);
  const std::vector<Bytes> scalars = edge_scalars();
  const Bytes point = other.public_key(other.random_scalar(noise));
  std::vector<Bytes> want_points, want_secrets;
  for (const Bytes& scalar : scalars) {
    want_points.push_back(other.public_key(scalar));
    want_secrets.push_back(other.shared_secret(scalar, point));
  }
  EXPECT_EQ(public_keys(scalars), want_points);
  EXPECT_EQ(shared_secrets(scalars, std::vector<Bytes>(scalars.size(), point)), want_secrets);
}

TEST_P(EcdhNist, EdgePoints) {
  std::vector<Bytes> few, scalars, points, want;
  for (const unsigned long small : {1ul, 2ul, 3ul, 5ul, 6ul, 7ul, 8ul, 15ul, 16ul, 17ul}) {
    few.push_back(other.bytes(number(small).get()));
    few.push_back(other.minus(other.order(), number(small).get()));
  }
  std::vector<Bytes> edges;
  for (const Bytes& scalar : few)
    edges.push_back(other.public_key(scalar));
  for (unsigned long x = 0; x < 8; ++x) {
    for (const Bytes& at : {other.bytes(number(x).get()), other.minus(other.modulus().get(), number(x + 1).get())}) {
      const Bytes point = other.lift(number(at).get());
      if (!point.empty()) edges.push_back(point);
    }
  }
  EXPECT_GT(edges.size(), few.size() + 4);
  for (const Bytes& point : edges) {
    for (const Bytes& scalar : few) {
      scalars.push_back(scalar);
      points.push_back(point);
      want.push_back(other.shared_secret(scalar, point));
    }
  }
  EXPECT_EQ(shared_secrets(scalars, points), want);
}

TEST_P(EcdhNist, InvalidScalarsFailAlone) {
  const Bytes good = other.bytes(number(77).get()), point = other.public_key(good);
  const std::vector<Bytes> bad = {Bytes(scalar_bytes()), other.bytes(other.order()),
                                  other.plus(other.order(), number(1).get()), Bytes(scalar_bytes(), 0xff)};
  for (size_t at = 0; at < 9; ++at) {
    for (const Bytes& scalar : bad) {
      std::vector<Bytes> scalars(9, good);
      scalars[at] = scalar;
      const Bytes joined = join(scalars);
      Bytes points(9 * point_bytes(), 0xee);
      bool valid[9];
      tested().public_keys(9, {joined.data(), scalar_bytes()}, {points.data(), point_bytes()}, valid, workspace());
      const auto secrets = shared_secrets(scalars, std::vector<Bytes>(9, point));
      for (size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(valid[i], i != at);
        EXPECT_EQ(part(points, i, point_bytes()), i == at ? Bytes(point_bytes()) : point);
        EXPECT_EQ(secrets[i], i == at ? Bytes() : other.shared_secret(good, point));
      }
    }
  }
}

TEST_P(EcdhNist, InvalidPointsFailAlone) {
  const Bytes scalar = other.bytes(number(77).get());
  const Bytes point = other.public_key(scalar);
  const size_t bytes = scalar_bytes();
  std::vector<Bytes> bad;
  for (const uint8_t first : {0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x07, 0x84, 0xff}) {
    bad.push_back(point);
    bad.back()[0] = first;
  }
  for (const size_t flipped : {size_t{1}, bytes, bytes + 1, 2 * bytes}) {
    bad.push_back(point);
    bad.back()[flipped] ^= 1;
  }
  bad.push_back(point);
  std::swap_ranges(bad.back().begin() + 1, bad.back().begin() + 1 + static_cast<long>(bytes),
                   bad.back().begin() + 1 + static_cast<long>(bytes));
  bad.emplace_back(point_bytes());  // the point at infinity, in a long and in its own encoding
  bad.emplace_back(point_bytes(), uint8_t{4});
  // Coordinates that are right modulo p, but not reduced.
  const Number p = other.modulus();
  size_t unreduced = 0;
  for (unsigned long x = 0; x < 8; ++x) {
    Bytes lifted = other.lift(number(x).get());
    if (lifted.empty()) continue;
    const Bytes large = other.plus(p.get(), number(x).get());
    std::copy(large.begin(), large.end(), lifted.begin() + 1);
    bad.push_back(lifted);
    ++unreduced;
  }
  EXPECT_GT(unreduced, 0u);
  Bytes all_ones = point;
  std::fill(all_ones.begin() + 1 + static_cast<long>(bytes), all_ones.end(), uint8_t{0xff});
  bad.push_back(all_ones);
  for (size_t at = 0; at < 9; ++at) {
    for (const Bytes& wrong : bad) {
      std::vector<Bytes> points(9, point);
      points[at] = wrong;
      const auto secrets = shared_secrets(std::vector<Bytes>(9, scalar), points);
      for (size_t i = 0; i < 9; ++i)
        EXPECT_EQ(secrets[i], i == at ? Bytes() : other.shared_secret(scalar, point)) << i;
    }
  }
}

TEST_P(EcdhNist, CountsAndStrides) {
  Noise noise(8);
  const Bytes point = other.public_key(other.random_scalar(noise));
  constexpr size_t kGap = 11;
  for (size_t count = 1; count <= 17; ++count) {
    const size_t in = scalar_bytes() + kGap, out = point_bytes() + kGap;
    Bytes scalars(count * in), points(count * out, 0xee), secrets(count * in, 0xee);
    for (size_t i = 0; i < count; ++i) {
      const Bytes scalar = other.random_scalar(noise);
      std::copy(scalar.begin(), scalar.end(), scalars.begin() + static_cast<long>(i * in));
    }
    const auto valid = std::make_unique<bool[]>(count);
    tested().public_keys(count, {scalars.data(), in}, {points.data(), out}, valid.get(), workspace());
    tested().shared_secrets(count, {scalars.data(), in}, {point.data(), 0}, {secrets.data(), in}, valid.get(),
                            workspace());
    for (size_t i = 0; i < count; ++i) {
      const Bytes scalar(scalars.begin() + static_cast<long>(i * in),
                         scalars.begin() + static_cast<long>(i * in + scalar_bytes()));
      const Bytes gap(kGap, 0xee);
      Bytes want_point = other.public_key(scalar), want_secret = other.shared_secret(scalar, point);
      want_point.insert(want_point.end(), gap.begin(), gap.end());
      want_secret.insert(want_secret.end(), gap.begin(), gap.end());
      ASSERT_EQ(part(points, i, out), want_point) << i << " of " << count;
      ASSERT_EQ(part(secrets, i, in), want_secret) << i << " of " << count;
    }
  }
}

#if defined(POLYKEM_TEST_RELEASE) && !defined(__SANITIZE_ADDRESS__)  // frames of other builds are larger
constexpr size_t kStack = 128 * 1024;
constexpr uint8_t kPaint = 0xc3;

__attribute__((noinline)) void paint_stack() {
  volatile uint8_t below[kStack];
  for (volatile uint8_t& byte : below)
    byte = kPaint;
}

/// Returns the bytes from this frame to the deepest one that was written since.
__attribute__((noinline)) size_t painted_over() {
  uint8_t below[kStack];
  const volatile uint8_t* const bytes = ct::barrier(static_cast<uint8_t*>(below));
  size_t untouched = 0;
  while (untouched < kStack && bytes[untouched] == kPaint)
    ++untouched;
  return kStack - untouched;
}

TEST_P(EcdhNist, TheStackIsWipedAsFarAsItIsUsed) {
  const Bytes scalar = other.bytes(number(0x1234567).get()), point = other.public_key(scalar);
  Bytes points(8 * point_bytes()), secrets(8 * scalar_bytes());
  bool valid[8];
  std::byte* const memory = workspace();
  const Implementation& implementation = tested();
  constexpr size_t kCallers = 2 * 1024;      // frames of a scheme and the engine between zeroize_stack() and these
  for (int round = 0; round < 2; ++round) {  // the first round makes the table
    paint_stack();
    implementation.public_keys(8, {scalar.data(), 0}, {points.data(), point_bytes()}, valid, memory);
    EXPECT_LT(painted_over(), kZeroizedStackBytes - kCallers);
  }
  paint_stack();
  implementation.shared_secrets(8, {scalar.data(), 0}, {point.data(), 0}, {secrets.data(), scalar_bytes()}, valid,
                                memory);
  EXPECT_LT(painted_over(), kZeroizedStackBytes - kCallers);
}
#endif

INSTANTIATE_TEST_SUITE_P(Implementations, EcdhNist,
                         ::testing::Values(Tested{Curve::kP256, false}, Tested{Curve::kP384, false}
#if defined(POLYKEM_TEST_AVX512) && defined(__x86_64__)
                                           ,
                                           Tested{Curve::kP256, true}, Tested{Curve::kP384, true}
#endif
                                           ),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace polykem::ecdh
