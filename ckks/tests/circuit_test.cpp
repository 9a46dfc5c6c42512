// SPDX-License-Identifier: Apache-2.0
// Compares operations on ciphertexts with the same operations on the numbers in them.
#include <algorithm>
#include <map>

#include "support.hpp"

namespace polykem::ckks::test {
namespace {

constexpr double kScale = 0x1p40;
constexpr size_t kSlots = 32;

/// Ciphertexts and the numbers in them.
struct Value {
  Ciphertexts c;
  std::vector<Complex> z;
};

struct CkksCircuit : testing::Test {
  User user{make_params(6, 50, 40, 5)};
  const Context& context = user.context;
  std::map<uint64_t, SwitchingKey> keys;

  Value fresh(size_t count = 2) {
    std::vector<Complex> z = user.message(count * kSlots);
    return {user.encrypted(z, kSlots, kScale), z};
  }
  Value moved(const Value& a, uint64_t g) {
    if (!keys.contains(g)) keys.emplace(g, make_automorphism_key(context, user.secret, g, user.drbg));
    return {automorphism(context, a.c, g, keys.at(g)), a.z};
  }
  Value rotated(const Value& a, long steps) {
    Value out = moved(a, rotation_element(context, steps));
    for (size_t i = 0; i < a.z.size(); ++i) {
      const size_t slot = (i % kSlots + static_cast<size_t>(steps + 64)) % kSlots;
      out.z[i] = a.z[i / kSlots * kSlots + slot];
    }
    return out;
  }
  Value conjugated(const Value& a) {
    Value out = moved(a, 2 * context.n() - 1);
    std::transform(a.z.begin(), a.z.end(), out.z.begin(), [](Complex z) { return std::conj(z); });
    return out;
  }
  Value product(const Value& a, const Value& b) {
    Value out{rescale(context, relinearise(context, mul(context, a.c, b.c), user.square_key)), a.z};
    for (size_t i = 0; i < a.z.size(); ++i)
      out.z[i] = a.z[i] * b.z[i];
    return out;
  }
  void expect_right(const Value& a, double max_difference = 0x1p-20) const {
    EXPECT_LT(largest_difference(user.decrypted(a.c), a.z), max_difference);
  }
};

TEST_F(CkksCircuit, EveryOperationOnABatch) {
  const Value a = fresh(3), b = fresh(3);
  Value out{add(context, a.c, b.c), a.z};
  const auto expect = [&](const Ciphertexts& c, const auto& f) {
    for (size_t i = 0; i < a.z.size(); ++i)
      out.z[i] = f(a.z[i], b.z[i]);
    out.c = c;
    expect_right(out);
  };
  const Plaintexts plain = encode(context, b.z, kSlots, context.limbs(), kScale);
  expect(add(context, a.c, b.c), [](Complex x, Complex y) { return x + y; });
  expect(sub(context, a.c, b.c), [](Complex x, Complex y) { return x - y; });
  expect(negate(context, a.c), [](Complex x, Complex) { return -x; });
  expect(add_plain(context, a.c, plain), [](Complex x, Complex y) { return x + y; });
  expect(sub_plain(context, a.c, plain), [](Complex x, Complex y) { return x - y; });
  expect(mul_plain(context, a.c, plain), [](Complex x, Complex y) { return x * y; });
  expect(mul(context, a.c, b.c), [](Complex x, Complex y) { return x * y; });
  expect(keep_limbs(context, a.c, 2), [](Complex x, Complex) { return x; });
  expect_right(product(a, b));
  expect_right(conjugated(a));
  for (const long steps : {0L, 1L, 5L, 31L, -1L, -7L})
    expect_right(rotated(a, steps));
}

TEST_F(CkksCircuit, OnePlaintextServesABatch) {
  const Value a = fresh(3);
  const std::vector<Complex> z = user.message(kSlots);
  const Plaintexts plain = encode(context, z, kSlots, context.limbs(), kScale);
  Value out{mul_plain(context, a.c, plain), a.z};
  for (size_t i = 0; i < a.z.size(); ++i)
    out.z[i] *= z[i % kSlots];
  expect_right(out);
}

TEST_F(CkksCircuit, FewerSlotsCountAsRepeated) {
  const std::vector<Complex> z = user.message(kSlots), two = user.message(2);
  const Ciphertexts a = user.encrypted(z, kSlots, kScale), b = user.encrypted(two, 2, kScale);
  const Plaintexts plain = encode(context, z, kSlots, context.limbs(), kScale);
  std::vector<Complex> sums = z, products = z;
  for (size_t i = 0; i < kSlots; ++i) {
    sums[i] += two[i % 2];
    products[i] *= two[i % 2];
  }
  expect_right({add(context, b, a), sums});
  expect_right({add_plain(context, b, plain), sums});
  expect_right({mul(context, b, a), products});
  expect_right({mul_plain(context, b, plain), products});
}

/// One prime, or as many digits as primes, a last digit shorter than the others, special primes larger and smaller than
/// those of q, in the smallest ring.
TEST(CkksParameters, KeysOfUnusualSets) {
  struct Shape {
    size_t limbs;
    unsigned digits, special_bits;
    size_t special;
  };
  for (const Shape& shape : {Shape{1, 1, 60, 1}, {5, 5, 60, 1}, {5, 3, 60, 2}, {5, 1, 30, 9}, {3, 2, 30, 4}}) {
    Params params{.log_n = 4, .q = {}, .p = {}, .q_roots = {}, .p_roots = {}, .digits = shape.digits, .threads = 1};
    params.q = find_primes(4, 50, shape.limbs, {});
    params.p = find_primes(4, shape.special_bits, shape.special, params.q);
    User user(params);
    const std::vector<Complex> z = user.message(8);
    const Ciphertexts a = user.encrypted(z, 8, 0x1p24);
    std::vector<Complex> squares = z, turned = z;
    for (size_t i = 0; i < 8; ++i) {
      squares[i] *= z[i];
      turned[i] = z[(i + 3) % 8];
    }
    const uint64_t g = rotation_element(user.context, 3);
    const SwitchingKey turn = make_automorphism_key(user.context, user.secret, g, user.drbg);
    for (size_t limbs = shape.limbs; limbs >= 1; --limbs) {
      const Ciphertexts low = keep_limbs(user.context, a, limbs);
      EXPECT_LT(largest_difference(user.decrypted(automorphism(user.context, low, g, turn)), turned), 0x1p-8) << limbs;
      const Ciphertexts product = relinearise(user.context, mul(user.context, low, low), user.square_key);
      EXPECT_LT(largest_difference(user.decrypted(product), squares), 0x1p-8) << limbs;
    }
  }
}

TEST_F(CkksCircuit, KeySwitchingWorksAtEveryLevel) {
  Value a = fresh(1);
  for (size_t limbs = context.limbs(); limbs >= 1; --limbs) {
    a.c = keep_limbs(context, a.c, limbs);
    expect_right(rotated(a, 3));
    if (limbs >= 2)
      expect_right({relinearise(context, mul(context, a.c, a.c), user.square_key), [&] {
                      std::vector<Complex> z = a.z;
                      for (Complex& x : z)
                        x *= x;
                      return z;
                    }()});
  }
}

TEST_F(CkksCircuit, SeveralAutomorphismsAreThoseAlone) {
  const Value a = fresh();
  const std::vector<uint64_t> gs{5, 2 * context.n() - 1, 25, 1};
  std::vector<SwitchingKey> made;
  std::vector<const SwitchingKey*> of_g;
  for (const uint64_t g : gs)
    made.push_back(make_automorphism_key(context, user.secret, g, user.drbg));
  for (const SwitchingKey& key : made)
    of_g.push_back(&key);
  for (size_t limbs = context.limbs(); limbs >= 1; --limbs) {
    const Ciphertexts low = keep_limbs(context, a.c, limbs);
    const std::vector<Ciphertexts> together = automorphisms(context, low, gs, of_g);
    for (size_t i = 0; i < gs.size(); ++i)
      EXPECT_EQ(together[i].words, automorphism(context, low, gs[i], made[i]).words) << limbs << ", " << gs[i];
  }
  const SwitchingKey other{};
  of_g.back() = &other;
  EXPECT_EQ(fault_of([&] { automorphisms(context, a.c, gs, of_g); }), Fault::kArgument);
}

TEST_F(CkksCircuit, ABatchIsItsItems) {
  const Ciphertexts a = user.encrypted(user.message(18 * 16), 16, 0x1p30), product = mul(context, a, a);
  ASSERT_EQ(a.count, 18U) << "more than are computed together";
  const SwitchingKey turn = make_automorphism_key(context, user.secret, 5, user.drbg);
  const Ciphertexts relinearised = relinearise(context, product, user.square_key);
  const Ciphertexts turned = automorphism(context, a, 5, turn), rescaled = rescale(context, a);
  for (size_t i = 0; i < a.count; ++i) {
    EXPECT_EQ(items(context, relinearised, i, 1).words,
              relinearise(context, items(context, product, i, 1), user.square_key).words);
    EXPECT_EQ(items(context, turned, i, 1).words, automorphism(context, items(context, a, i, 1), 5, turn).words);
    EXPECT_EQ(items(context, rescaled, i, 1).words, rescale(context, items(context, a, i, 1)).words);
  }
}

TEST_F(CkksCircuit, RandomOperationsToTheLastLevel) {
  for (int round = 0; round < 5; ++round) {
    Value a = fresh(2);
    for (size_t depth = 0; depth < 5; ++depth) {
      Value b = fresh(2);
      // Its scale after as many rescalings as a has seen.
      const Plaintexts plain = encode(context, b.z, kSlots, context.limbs(), a.c.scale);
      b.c = keep_limbs(context, encrypt(context, user.key, plain, user.drbg), a.c.limbs);
      switch (user.random() % 4) {
        case 0:
          a.c = add(context, a.c, b.c);
          for (size_t i = 0; i < a.z.size(); ++i)
            a.z[i] += b.z[i];
          break;
        case 1:
          a = rotated(a, static_cast<long>(user.random() % 63) - 31);
          break;
        case 2:
          a = conjugated(a);
          break;
        default:
          break;
      }
      a = product(a, b);
    }
    EXPECT_EQ(a.c.limbs, 1U);
    expect_right(a);
  }
}

TEST_F(CkksCircuit, SaysWhatDoesNotFit) {
  const Value a = fresh(2), three = fresh(3);
  const Ciphertexts lower = keep_limbs(context, a.c, 3), longer = mul(context, a.c, a.c);
  const Ciphertexts one = keep_limbs(context, a.c, 1);
  const Plaintexts plain = encode(context, a.z, kSlots, 3, kScale);
  EXPECT_EQ(fault_of([&] { add(context, a.c, lower); }), Fault::kLevels);
  EXPECT_EQ(fault_of([&] { add(context, a.c, three.c); }), Fault::kArgument);
  EXPECT_EQ(fault_of([&] { add(context, a.c, user.encrypted(a.z, kSlots, 2 * kScale)); }), Fault::kScales);
  EXPECT_EQ(fault_of([&] { mul(context, longer, a.c); }), Fault::kParts);
  EXPECT_EQ(fault_of([&] { relinearise(context, a.c, user.square_key); }), Fault::kParts);
  EXPECT_EQ(fault_of([&] { automorphism(context, longer, 5, user.square_key); }), Fault::kParts);
  EXPECT_EQ(fault_of([&] { automorphism(context, a.c, 6, user.square_key); }), Fault::kArgument);
  EXPECT_EQ(fault_of([&] { rescale(context, one); }), Fault::kNoLevel);
  EXPECT_EQ(fault_of([&] { keep_limbs(context, one, 2); }), Fault::kLevels);
  EXPECT_EQ(fault_of([&] { add_plain(context, a.c, plain); }), Fault::kLevels);
  EXPECT_EQ(fault_of([&] { add_plain(context, three.c, plain); }), Fault::kArgument);
  Ciphertexts huge = a.c;
  huge.scale = 0x1p600;
  EXPECT_EQ(fault_of([&] { mul(context, huge, huge); }), Fault::kScales);
  const User other(make_params(5, 50, 40, 5));
  EXPECT_EQ(fault_of([&] { add(other.context, a.c, a.c); }), Fault::kArgument);
  EXPECT_EQ(fault_of([&] { relinearise(context, longer, other.square_key); }), Fault::kArgument);
}

TEST_F(CkksCircuit, AWrongKeyIsNoticed) {
  const Value a = fresh(1);
  const User other(make_params(6, 50, 40, 5), 2);
  EXPECT_EQ(fault_of([&] { other.decrypted(a.c); }), Fault::kDecryption);
  const Ciphertexts wrong = automorphism(context, a.c, 5, user.square_key);
  EXPECT_EQ(fault_of([&] { user.decrypted(wrong); }), Fault::kDecryption);
}

TEST_F(CkksCircuit, EncryptionsOfOneMessageDiffer) {
  const Value a = fresh(1);
  EXPECT_NE(user.encrypted(a.z, kSlots, kScale).words, a.c.words);
}

TEST_F(CkksCircuit, ThreadsComputeTheSame) {
  Params params = make_params(6, 50, 40, 5);
  params.threads = 3;
  const Context parallel(params);
  const Value a = fresh(3);
  const Ciphertexts squares = mul(context, a.c, a.c);
  EXPECT_EQ(rescale(parallel, relinearise(parallel, squares, user.square_key)).words,
            rescale(context, relinearise(context, squares, user.square_key)).words);
}

/// The noise of errors must have the standard's deviation of about 3.2.
TEST_F(CkksCircuit, FreshNoiseIsOfTheRightSize) {
  const Plaintexts nothing = encode(context, std::vector<Complex>(64 * kSlots), kSlots, 1, 1);
  const Plaintexts noise = decrypt(context, user.secret, encrypt(context, user.key, nothing, user.drbg));
  double sum = 0;
  for (size_t item = 0; item < noise.count; ++item)
    for (const double x : coefficients(context, noise, item))
      sum += x * x;
  const double n = static_cast<double>(context.n()), variance = sum / static_cast<double>(noise.count) / n;
  const double expected = 10.5 * (1 + n * 4 / 3);  // e v + e0 + e1 s
  EXPECT_GT(variance, 0.6 * expected);
  EXPECT_LT(variance, 1.6 * expected);
}

}  // namespace
}  // namespace polykem::ckks::test
