// SPDX-License-Identifier: Apache-2.0
// Tests elliptic-curve Diffie-Hellman: compares every implementation with the standards' and Wycheproof's vectors and
// with the others.
#include "prim/ecdh/ecdh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/input.hpp"
#include "core/cpu_features.hpp"
#include "core/secure.hpp"
#include "prim/ecdh/cuda/base_table32.hpp"
#include "prim/ecdh/nist.hpp"
#include "prim/ecdh/x25519.hpp"
#include "support/bytes.hpp"

namespace polykem::ecdh {
namespace {

using test::Bytes;
using test::from_hex;

struct Named {
  std::string name;
  Curve curve;
  const Implementation* by;
};

/// The GPU's arithmetic and table, on this CPU.
struct FieldOfGpus : Field32 {
  static void store(const Element& a, ByteRows out, size_t first, size_t /*items*/) {
    const Element value = reduced(a);
    for (size_t i = 0; i < 32; ++i)
      out.at(first)[i] = static_cast<uint8_t>(value.word[i / 4] >> (8 * (i % 4)));
  }
  static void public_keys(size_t count, ConstByteRows scalars, ByteRows points, bool* valid, std::byte* /*workspace*/) {
    static const auto table = [] {
      std::vector<Window> windows;
      AffinePoint power = kEdwardsBasePoint;
      while (windows.size() < edwards25519::kWindows) {
        const auto [window, next] = window_of(power);
        windows.push_back(window);
        power = next;
      }
      return windows;
    }();
    for (size_t i = 0; i < count; ++i)
      store(base_point_times<Field32>({scalars.at(i)}, table.data()), points, i, 1);
    std::fill_n(valid, count, true);
  }
};
constexpr Implementation kTextOfGpus{0, FieldOfGpus::public_keys, x25519_shared_secrets<FieldOfGpus>};

/// Returns all implementations that this CPU can run, the portable ones first.
std::vector<Named> implementations() {
  std::vector<Named> all{{"x25519_portable", Curve::kX25519, &x25519_portable()},
                         {"p256_portable", Curve::kP256, &nist_portable(Curve::kP256)},
                         {"p384_portable", Curve::kP384, &nist_portable(Curve::kP384)},
                         {"x25519_cuda", Curve::kX25519, &kTextOfGpus}};
#if defined(POLYKEM_TEST_X86) && defined(__x86_64__)
  if (cpu_features().avx2()) {
    all.push_back({"x25519_avx2", Curve::kX25519, &x25519_avx2()});
    all.push_back({"x25519_avx2_single", Curve::kX25519, &x25519_avx2_single()});
  }
#endif
#if defined(POLYKEM_TEST_AVX512) && defined(__x86_64__)
  if (cpu_features().avx512()) {
    all.push_back({"x25519_avx512", Curve::kX25519, &x25519_avx512()});
    all.push_back({"p256_avx512", Curve::kP256, &nist_avx512(Curve::kP256)});
    all.push_back({"p384_avx512", Curve::kP384, &nist_avx512(Curve::kP384)});
  }
#endif
  return all;
}

/// 64-byte aligned, for one call at a time.
std::byte* workspace(size_t bytes) {
  static SecureBuffer memory;
  EXPECT_TRUE(memory.reserve(bytes + 1));
  return memory.data();
}
std::byte* workspace(const Implementation& of) {
  return workspace(of.workspace_bytes);
}

struct Answer {
  Bytes bytes;
  bool valid;
  bool operator==(const Answer&) const = default;
};

Answer public_key(const Named& n, const Bytes& scalar) {
  Answer out{Bytes(info(n.curve).point_bytes, 0xee), false};
  n.by->public_keys(1, {scalar.data(), 0}, {out.bytes.data(), 0}, &out.valid, workspace(*n.by));
  return out;
}

Answer shared_secret(const Named& n, const Bytes& scalar, const Bytes& point) {
  Answer out{Bytes(info(n.curve).secret_bytes, 0xee), false};
  n.by->shared_secrets(1, {scalar.data(), 0}, {point.data(), 0}, {out.bytes.data(), 0}, &out.valid, workspace(*n.by));
  return out;
}

class EveryImplementation : public testing::TestWithParam<size_t> {
 protected:
  const Named n = implementations()[GetParam()];
  const Named& portable() const {
    static const std::vector<Named> all = implementations();
    return all[static_cast<size_t>(n.curve)];
  }
};

std::string name_of(const testing::TestParamInfo<size_t>& info) {
  return implementations()[info.param].name;
}

INSTANTIATE_TEST_SUITE_P(Ecdh, EveryImplementation, testing::Range(size_t{0}, implementations().size()), name_of);

TEST_P(EveryImplementation, MeetsTheStandardsVectors) {
  struct Vector {
    const char *scalar, *own_point, *point, *secret;
  };
  const Vector vectors[] = {
      // [RFC7748, 6.1]
      {"77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
       "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
       "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
       "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"},
      // [RFC5903, 8.1]
      {"c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433",
       "04dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c37725811805271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5"
       "f"
       "58389e0577b8990bb3",
       "04d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf6356fbf3ca366cc23e8157854c13c58d6aac23f046ada30"
       "f"
       "8353e74f33039872ab",
       "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"},
      // [RFC5903, 8.2]
      {"099f3c7034d4a2c699884d73a375a67f7624ef7c6b3c0f160647b67414dce655e35b538041e649ee3faef896783ab194",
       "04667842d7d180ac2cde6f74f37551f55755c7645c20ef73e31634fe72b4c55ee6de3ac808acb4bdb4c88732aee95f41aa9482ed1fc0eeb"
       "9"
       "cafc4984625ccfc23f65032149e0e144ada024181535a0f38eeb9fcff3c2c947dae69b4c634573a81c",
       "04e558dbef53eecde3d3fccfc1aea08a89a987475d12fd950d83cfa41732bc509d0d1ac43a0336def96fda41d0774a3571dcfbec7aacf31"
       "9"
       "6472169e838430367f66eebe3c6e70c416dd5f0c68759dd1fff83fa40142209dff5eaad96db9e6386c",
       "11187331c279962d93d604243fd592cb9d0a926f422e47187521287e7156c5c4d603135569b9e9d09cf5d4a270f59746"},
  };
  const Vector& v = vectors[static_cast<size_t>(n.curve)];
  EXPECT_EQ(public_key(n, from_hex(v.scalar)), (Answer{from_hex(v.own_point), true}));
  EXPECT_EQ(shared_secret(n, from_hex(v.scalar), from_hex(v.point)), (Answer{from_hex(v.secret), true}));
}

TEST_P(EveryImplementation, PassesWycheproof) {
  const char* const files[] = {"x25519_test", "ecdh_secp256r1_ecpoint_test", "ecdh_secp384r1_ecpoint_test"};
  const std::string file = std::string(POLYKEM_ECDH_VECTORS) + "/" + files[static_cast<size_t>(n.curve)] + ".json.gz";
  const CurveInfo curve = info(n.curve);
  const auto content = nlohmann::json::parse(cli::read_text_maybe_gzip(file));
  size_t right = 0, refused = 0;
  for (const auto& group : content.at("testGroups")) {
    for (const auto& test : group.at("tests")) {
      SCOPED_TRACE(test.dump());
      const Bytes point = from_hex(test.at("public"));
      if (point.size() != curve.point_bytes) continue;  // compressed or not a point; callers refuse the length
      Bytes scalar = from_hex(test.at("private")), expected = from_hex(test.at("shared"));
      while (scalar.size() > curve.scalar_bytes)
        scalar.erase(scalar.begin());
      scalar.insert(scalar.begin(), curve.scalar_bytes - scalar.size(), 0);
      const bool zero = n.curve == Curve::kX25519 &&
                        std::all_of(expected.begin(), expected.end(), [](uint8_t byte) { return byte == 0; });
      const bool valid = test.at("result") != "invalid" && !zero;
      expected.resize(curve.secret_bytes);
      if (!valid) std::fill(expected.begin(), expected.end(), uint8_t{0});
      EXPECT_EQ(shared_secret(n, scalar, point), (Answer{expected, valid}));
      ++(valid ? right : refused);
    }
  }
  EXPECT_GT(right, 180u);
  EXPECT_GT(refused, 10u);
}

TEST_P(EveryImplementation, AgreesWithThePortableOneForAnyCountAndStride) {
  const CurveInfo curve = info(n.curve);
  for (const size_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 40}) {
    for (const size_t gap : {0, 1, 13}) {
      const size_t scalar_stride = curve.scalar_bytes + gap, point_stride = curve.point_bytes + gap,
                   secret_stride = curve.secret_bytes + gap;
      const Bytes scalars = test::pattern(count * scalar_stride, count);
      const auto compute = [&](const Implementation& by) {
        Bytes points(count * point_stride, 0xaa), secrets(count * secret_stride, 0xbb),
            same_key(count * secret_stride, 0xcc);
        const auto valid = std::make_unique<bool[]>(count);
        by.public_keys(count, {scalars.data(), scalar_stride}, {points.data(), point_stride}, valid.get(),
                       workspace(by));
        Bytes peers = points;
        std::rotate(peers.begin(), peers.begin() + static_cast<ptrdiff_t>(point_stride * (count / 2)), peers.end());
        by.shared_secrets(count, {scalars.data(), scalar_stride}, {peers.data(), point_stride},
                          {secrets.data(), secret_stride}, valid.get(), workspace(by));
        EXPECT_TRUE(std::all_of(valid.get(), valid.get() + count, [](bool each) { return each; }));
        by.shared_secrets(count, {scalars.data(), 0}, {peers.data(), point_stride}, {same_key.data(), secret_stride},
                          valid.get(), workspace(by));
        return std::array{points, secrets, same_key};
      };
      EXPECT_EQ(compute(*n.by), compute(*portable().by)) << count << " items, " << gap << " bytes between them";
    }
  }
}

TEST_P(EveryImplementation, BothSidesHaveTheSameSecret) {
  const CurveInfo curve = info(n.curve);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Bytes a = test::pattern(curve.scalar_bytes, 2 * seed), b = test::pattern(curve.scalar_bytes, 2 * seed + 1);
    EXPECT_EQ(shared_secret(n, a, public_key(n, b).bytes), shared_secret(n, b, public_key(n, a).bytes));
  }
}

/// [RFC7748, 5.2]: the result becomes the scalar, the scalar the point.
TEST_P(EveryImplementation, X25519Iterated) {
  if (n.curve != Curve::kX25519) GTEST_SKIP() << "the test is X25519's";
  Bytes scalar(32, 0), point(32, 0);
  scalar[0] = point[0] = 9;
  for (int i = 1; i <= 1000; ++i) {
    Bytes next = shared_secret(n, scalar, point).bytes;
    point = std::exchange(scalar, std::move(next));
    if (i == 1) {
      EXPECT_EQ(scalar, from_hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
    }
  }
  EXPECT_EQ(scalar, from_hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
}

/// Points of small order, with their non-canonical encodings, yield zero [RFC7748, 6.1]; one bad item spoils no other.
TEST_P(EveryImplementation, X25519OfSmallOrderIsRefused) {
  if (n.curve != Curve::kX25519) GTEST_SKIP() << "the test is X25519's";
  std::vector<Bytes> small{Bytes(32, 0),
                           from_hex("0100000000000000000000000000000000000000000000000000000000000000"),
                           from_hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
                           from_hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
                           from_hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
                           from_hex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
                           from_hex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")};
  const size_t count = small.size();
  for (size_t i = 0; i < count; ++i) {
    small.push_back(small[i]);
    small.back()[31] |= 0x80;  // the bit is ignored
  }
  Bytes points;
  for (const Bytes& each : small) {
    points.insert(points.end(), each.begin(), each.end());
    const Bytes good = public_key(n, test::pattern(32, points.size())).bytes;
    points.insert(points.end(), good.begin(), good.end());
  }
  const size_t items = 2 * small.size();
  const Bytes scalars = test::pattern(32 * items, 7);
  Bytes secrets(32 * items, 0xee);
  const auto valid = std::make_unique<bool[]>(items);
  n.by->shared_secrets(items, {scalars.data(), 32}, {points.data(), 32}, {secrets.data(), 32}, valid.get(),
                       workspace(*n.by));
  for (size_t i = 0; i < items; ++i) {
    const auto at = secrets.begin() + static_cast<ptrdiff_t>(32 * i);
    const bool zero = std::all_of(at, at + 32, [](uint8_t byte) { return byte == 0; });
    EXPECT_EQ(valid[i], i % 2 == 1) << i;
    EXPECT_EQ(zero, i % 2 == 0) << i;
  }
}

/// Factors with all bits set, and the least and the largest products of which sums and differences are formed.
TEST(Field32, Extremes) {
  using F = Field32;
  F::Element most{}, product = F::small(4095);
  std::fill_n(most.word, F::kWords, ~0u);
  F::Element p = most;
  p.word[0] -= 18, p.word[7] >>= 1;
  product.word[7] = 0x80000000;  // 2^255 + 2^12 - 1
  const auto value = [](const F::Element& a) {
    const F::Element r = F::reduced(a);
    return Bytes(reinterpret_cast<const uint8_t*>(r.word), reinterpret_cast<const uint8_t*>(r.word + F::kWords));
  };
  const Bytes zero = value(F::small(0));
  EXPECT_EQ(value(p), zero);
  EXPECT_EQ(value(most), value(F::small(37)));
  EXPECT_EQ(value(F::mul(most, most)), value(F::small(37 * 37)));
  EXPECT_EQ(value(F::square(most)), value(F::small(37 * 37)));
  EXPECT_EQ(value(F::mul_add(product, most, 121665)), value(F::small(4095 + 19 + 37 * 121665)));
  EXPECT_EQ(value(F::add(product, product)), value(F::small(2 * (4095 + 19))));
  EXPECT_EQ(value(F::twice(product)), value(F::small(2 * (4095 + 19))));
  EXPECT_EQ(value(F::add(F::sub(F::small(0), product), F::small(4095 + 19))), zero);
  EXPECT_EQ(value(F::sub(product, product)), zero);
  EXPECT_EQ(value(F::sub(p, F::small(0))), zero);
  // 2^256 + a - b, less 38, borrows from every word.
  F::Element borrows = p;
  borrows.word[0] = 0xffffffe0;
  EXPECT_EQ(value(F::sub(F::small(0), borrows)), value(F::small(13)));
  // (2^n - 1) (2^n + 1): the lower half of the product has all bits set, so that folding the upper one carries.
  F::Sum expected = F::small(38);
  for (size_t n = 129; n < 256; ++n) {
    expected = F::twice(F::twice(expected));
    F::Element below{}, above = F::small(1);
    for (size_t bit = 0; bit < n; ++bit)
      below.word[bit / 32] |= 1u << (bit % 32);
    above.word[n / 32] |= 1u << (n % 32);
    EXPECT_EQ(value(F::mul(below, above)), value(F::sub(expected, F::small(1)))) << n;
  }
}

/// Every split of a batch between implementations has the same results.
TEST(Means, AllCountsAgree) {
  std::vector<InstructionSet> all{InstructionSet::kPortable};
#if defined(POLYKEM_TEST_X86) && defined(__x86_64__)
  if (cpu_features().avx2()) all.push_back(InstructionSet::kAvx2);
#endif
#if defined(POLYKEM_TEST_AVX512) && defined(__x86_64__)
  if (cpu_features().avx512()) all.push_back(InstructionSet::kAvx512);
#endif
  constexpr size_t kMost = 19;
  for (const Curve curve : {Curve::kX25519, Curve::kP256, Curve::kP384}) {
    const CurveInfo c = info(curve);
    const Bytes scalars = test::pattern(kMost * c.scalar_bytes, 3);
    Bytes first_points, first_secrets;
    for (const InstructionSet isa : all) {
      for (size_t count = 1; count <= kMost; ++count) {
        Bytes points(count * c.point_bytes), secrets(count * c.secret_bytes);
        bool valid[kMost];
        std::byte* const memory = workspace(workspace_bytes(curve, isa));
        public_keys(curve, isa, count, {scalars.data(), c.scalar_bytes}, {points.data(), c.point_bytes}, valid, memory);
        shared_secrets(curve, isa, count, {scalars.data(), c.scalar_bytes}, {points.data(), c.point_bytes},
                       {secrets.data(), c.secret_bytes}, valid, memory);
        if (first_points.size() < points.size()) {
          first_points = points;
          first_secrets = secrets;
        }
        EXPECT_TRUE(std::equal(points.begin(), points.end(), first_points.begin())) << c.name << " " << count;
        EXPECT_TRUE(std::equal(secrets.begin(), secrets.end(), first_secrets.begin())) << c.name << " " << count;
      }
    }
  }
}

TEST(ChooseScalars, TheFirstCandidateInRange) {
  const CurveInfo c = info(Curve::kP256);
  Bytes seeds(2 * 96, 0xff);  // beyond the order
  std::fill_n(seeds.begin() + 32, 32, uint8_t{0});
  std::fill_n(seeds.begin() + 64, 32, uint8_t{1});
  std::fill_n(seeds.begin() + 96, 32, uint8_t{2});
  Bytes scalars(2 * 32);
  choose_scalars(Curve::kP256, 2, {seeds.data(), 96}, 96, {scalars.data(), c.scalar_bytes});
  EXPECT_EQ(Bytes(scalars.begin(), scalars.begin() + 32), Bytes(32, 1));
  EXPECT_EQ(Bytes(scalars.begin() + 32, scalars.end()), Bytes(32, 2));
  EXPECT_FALSE(valid_scalar(Curve::kP256, seeds.data()));
  EXPECT_FALSE(valid_scalar(Curve::kP256, seeds.data() + 32));
}

}  // namespace
}  // namespace polykem::ecdh
