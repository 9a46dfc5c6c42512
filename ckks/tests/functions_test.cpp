// SPDX-License-Identifier: Apache-2.0
// Tests functions of several operations in the C API: they compute the words that Python computes
// (data/function_answers.txt), the numbers that they should, and refuse what does not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "handles.hpp"

namespace polykem::ckks::test {
namespace {

using Number = std::complex<double>;

/// Words of splitmix64 from a seed, each modulo its row's prime, as in python/tests/function_answers.py.
std::vector<uint64_t> drawn_words(uint64_t seed, size_t rows, size_t n, const std::vector<uint64_t>& primes) {
  std::vector<uint64_t> words(rows * n);
  for (size_t i = 0; i < words.size(); ++i) {
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    words[i] = (z ^ (z >> 31)) % primes[i / n % primes.size()];
  }
  return words;
}

/// Returns the FNV-1a hash of a batch's words.
uint64_t hash_of(const polykem_ckks_ciphertexts* batch) {
  size_t count = 0;
  const uint64_t* const words = polykem_ckks_ciphertexts_words(batch, &count);
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < count; ++i)
    hash = (hash ^ words[i]) * 0x100000001b3;
  return hash;
}

polykem_ckks_shape shape_of_batch(const polykem_ckks_ciphertexts* batch) {
  polykem_ckks_shape shape{};
  shape.struct_size = sizeof shape;
  EXPECT_EQ(polykem_ckks_ciphertexts_shape(batch, &shape), POLYKEM_CKKS_OK);
  return shape;
}

/// Calls with &out, which must be set exactly if the call returns OK.
template <typename Handle, typename Call>
Handle result_of(polykem_ckks_status expected, const Call& call) {
  typename Handle::pointer out = nullptr;
  EXPECT_EQ(call(&out), expected) << polykem_ckks_error_text();
  EXPECT_EQ(out != nullptr, expected == POLYKEM_CKKS_OK);
  return Handle(out);
}

ContextHandle new_context(unsigned log_n, const std::vector<uint64_t>& q, const std::vector<uint64_t>& p,
                          unsigned digits) {
  const polykem_ckks_parameters parameters{sizeof parameters, log_n,   q.size(), q.data(), nullptr, p.size(),
                                           p.data(),          nullptr, digits,   1,        1};
  return result_of<ContextHandle>(POLYKEM_CKKS_OK,
                                  [&](auto** out) { return polykem_ckks_context_new(&parameters, out); });
}

ChebyshevHandle new_chebyshev(const std::vector<Number>& c, double a, double b,
                              polykem_ckks_status expected = POLYKEM_CKKS_OK) {
  return result_of<ChebyshevHandle>(expected, [&](auto** out) {
    return polykem_ckks_chebyshev_new(reinterpret_cast<const double*>(c.data()), c.size(), a, b, out);
  });
}

/// A line of function_answers.txt.
class Answer {
 public:
  explicit Answer(const std::string& line) : in_(line) {
    in_ >> name;
    const auto log_n = static_cast<unsigned>(whole()), digits = static_cast<unsigned>(whole());
    step = whole();
    q = list();
    p = list();
    primes = q;
    primes.insert(primes.end(), p.begin(), p.end());
    context = new_context(log_n, q, p, digits);
    n = size_t{1} << log_n;
    digit_count = digits;
    const size_t limbs = whole();
    polykem_ckks_shape shape{sizeof shape, 2, 2, limbs, 0, real()};
    slots = shape.slots = whole();
    const auto words = drawn_words(1, 2 * 2 * limbs, n, {q.begin(), q.begin() + static_cast<std::ptrdiff_t>(limbs)});
    x = result_of<CiphertextsHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
      return polykem_ckks_ciphertexts_new(context.get(), &shape, words.data(), words.size(), out);
    });
  }

  SwitchingKeyHandle key(uint64_t seed) const {
    const auto words = drawn_words(seed, digit_count * 2 * primes.size(), n, primes);
    return result_of<SwitchingKeyHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
      return polykem_ckks_switching_key_new(context.get(), words.data(), words.size(), out);
    });
  }
  uint64_t whole() {
    uint64_t number = 0;
    in_ >> number;
    return number;
  }
  double real() {
    std::string text;
    in_ >> text;
    return std::strtod(text.c_str(), nullptr);
  }
  std::vector<Number> numbers(size_t count) {
    std::vector<Number> out(count);
    for (Number& z : out) {
      const double re = real();
      z = {re, real()};
    }
    return out;
  }
  std::vector<uint64_t> list() {
    std::vector<uint64_t> out(whole());
    for (uint64_t& number : out)
      number = whole();
    return out;
  }
  /// Compares a result with the end of the line.
  void expect(const polykem_ckks_ciphertexts* result) {
    ASSERT_NE(result, nullptr);
    const polykem_ckks_shape shape = shape_of_batch(result);
    EXPECT_EQ(shape.limbs, whole());
    EXPECT_EQ(shape.scale, real());
    EXPECT_EQ(hash_of(result), whole());
    EXPECT_TRUE(in_) << "the line is too short";
  }

  std::string name;
  size_t step = 0, n = 0, slots = 0, digit_count = 0;
  std::vector<uint64_t> q, p, primes;
  ContextHandle context;
  CiphertextsHandle x;

 private:
  std::istringstream in_;
};

void expect_chebyshev(Answer& answer) {
  const double a = answer.real(), b = answer.real();
  const size_t count = answer.whole();
  const ChebyshevHandle polynomial = new_chebyshev(answer.numbers(count), a, b);
  const SwitchingKeyHandle key = answer.key(2);
  const auto y = result_of<CiphertextsHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
    return polykem_ckks_chebyshev_apply(answer.context.get(), polynomial.get(), answer.x.get(), key.get(), answer.step,
                                        out);
  });
  const size_t used = polykem_ckks_chebyshev_levels(polynomial.get()) * answer.step;
  EXPECT_EQ(shape_of_batch(answer.x.get()).limbs, shape_of_batch(y.get()).limbs + used);
  answer.expect(y.get());
}

/// Returns the steps that a transform needs keys for.
std::vector<long> rotations_of(const TransformHandle& transform) {
  std::vector<long> steps(polykem_ckks_transform_rotation_count(transform.get()));
  EXPECT_EQ(polykem_ckks_transform_rotations(transform.get(), steps.data(), steps.size()), POLYKEM_CKKS_OK);
  return steps;
}

TransformHandle new_transform(const polykem_ckks_context* context, const std::vector<long>& numbers,
                              const std::vector<Number>& diagonals, size_t slots, size_t limbs, size_t step = 1,
                              polykem_ckks_status expected = POLYKEM_CKKS_OK) {
  return result_of<TransformHandle>(expected, [&](auto** out) {
    return polykem_ckks_transform_new(context, numbers.data(), numbers.size(),
                                      reinterpret_cast<const double*>(diagonals.data()), slots, limbs, step, out);
  });
}

CiphertextsHandle product_of(const polykem_ckks_context* context, const TransformHandle& transform,
                             const CiphertextsHandle& a, const std::vector<SwitchingKeyHandle>& keys,
                             polykem_ckks_status expected = POLYKEM_CKKS_OK) {
  std::vector<const polykem_ckks_switching_key*> pointers;
  for (const SwitchingKeyHandle& key : keys)
    pointers.push_back(key.get());
  return result_of<CiphertextsHandle>(expected, [&](auto** out) {
    return polykem_ckks_transform_apply(context, transform.get(), a.get(), pointers.data(), pointers.size(), out);
  });
}

void expect_transform(Answer& answer) {
  const size_t limbs = answer.whole();
  std::vector<long> numbers(answer.whole());
  for (long& number : numbers)
    number = static_cast<long>(answer.real());
  const TransformHandle transform = new_transform(
      answer.context.get(), numbers, answer.numbers(numbers.size() * answer.slots), answer.slots, limbs, answer.step);
  const std::vector<uint64_t> expected = answer.list();
  const std::vector<long> steps = rotations_of(transform);
  ASSERT_TRUE(std::equal(steps.begin(), steps.end(), expected.begin(), expected.end()));
  std::vector<SwitchingKeyHandle> keys;
  for (const uint64_t step : expected)
    keys.push_back(answer.key(2 + step));
  answer.expect(product_of(answer.context.get(), transform, answer.x, keys).get());
}

TEST(CkksFunctions, ComputeWhatPythonComputes) {
  std::ifstream in(std::string(POLYKEM_CKKS_TEST_DATA) + "/function_answers.txt");
  size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    Answer answer(line);
    SCOPED_TRACE(std::to_string(lines + 1) + ": " + answer.name);
    ASSERT_TRUE(answer.name == "chebyshev" || answer.name == "transform");
    answer.name == "chebyshev" ? expect_chebyshev(answer) : expect_transform(answer);
  }
  EXPECT_GE(lines, 36U);
}

/// Four primes of 40 bits after one of 50, N = 64, and keys.
struct CkksFunction : testing::Test {
  CkksFunction() {
    std::vector<uint64_t> q(5), p(2);
    EXPECT_EQ(polykem_ckks_find_primes(6, 50, 1, nullptr, 0, q.data()), POLYKEM_CKKS_OK);
    EXPECT_EQ(polykem_ckks_find_primes(6, 40, 4, q.data(), 1, q.data() + 1), POLYKEM_CKKS_OK);
    EXPECT_EQ(polykem_ckks_find_primes(6, 60, 2, nullptr, 0, p.data()), POLYKEM_CKKS_OK);
    context = new_context(6, q, p, 3);
    secret = result_of<SecretKeyHandle>(
        POLYKEM_CKKS_OK, [&](auto** out) { return polykem_ckks_secret_key_generate(context.get(), out); });
    public_key = result_of<PublicKeyHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
      return polykem_ckks_public_key_generate(context.get(), secret.get(), out);
    });
    key = result_of<SwitchingKeyHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
      return polykem_ckks_relinearisation_key_generate(context.get(), secret.get(), out);
    });
  }

  CiphertextsHandle encrypted(const std::vector<Number>& values, double scale = 0x1p40) const {
    const auto plain = result_of<PlaintextsHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
      return polykem_ckks_encode(context.get(), reinterpret_cast<const double*>(values.data()), 1, values.size(), 5,
                                 scale, out);
    });
    return result_of<CiphertextsHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
      return polykem_ckks_encrypt(context.get(), public_key.get(), plain.get(), out);
    });
  }
  std::vector<Number> decrypted(const CiphertextsHandle& a) const {
    const auto plain = result_of<PlaintextsHandle>(
        POLYKEM_CKKS_OK, [&](auto** out) { return polykem_ckks_decrypt(context.get(), secret.get(), a.get(), out); });
    std::vector<Number> out(shape_of_batch(a.get()).slots);
    EXPECT_EQ(polykem_ckks_decode(context.get(), plain.get(), reinterpret_cast<double*>(out.data()), out.size()),
              POLYKEM_CKKS_OK);
    return out;
  }
  SwitchingKeyHandle rotation_key(long steps) const {
    const uint64_t g = polykem_ckks_rotation_element(context.get(), steps);
    return result_of<SwitchingKeyHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
      return polykem_ckks_automorphism_key_generate(context.get(), secret.get(), g, out);
    });
  }
  CiphertextsHandle applied(const ChebyshevHandle& polynomial, const CiphertextsHandle& x,
                            polykem_ckks_status expected = POLYKEM_CKKS_OK, size_t step = 1) const {
    return result_of<CiphertextsHandle>(expected, [&](auto** out) {
      return polykem_ckks_chebyshev_apply(context.get(), polynomial.get(), x.get(), key.get(), step, out);
    });
  }

  ContextHandle context;
  SecretKeyHandle secret;
  PublicKeyHandle public_key;
  SwitchingKeyHandle key;
};

TEST_F(CkksFunction, PolynomialsOfEncryptedNumbers) {
  const std::vector<Number> c{0.25, -0.5, 0.125, Number(0, 0.25), 0, 0.0625, -0.25, 0.03125};
  const std::vector<Number> x{1, -2, 3.5, -4, 0, 0.5, 2.25, 4};
  const ChebyshevHandle polynomial = new_chebyshev(c, -4, 4);
  EXPECT_EQ(polykem_ckks_chebyshev_levels(polynomial.get()), 4U);
  const std::vector<Number> y = decrypted(applied(polynomial, encrypted(x)));
  for (size_t i = 0; i < x.size(); ++i) {
    Number expected = 0;
    for (size_t j = 0; j < c.size(); ++j)
      expected += c[j] * std::cos(static_cast<double>(j) * std::acos(x[i].real() / 4));
    EXPECT_LT(std::abs(y[i] - expected), 0x1p-20) << i;
  }
}

TEST_F(CkksFunction, PolynomialsThatAreRefused) {
  const double infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<Number>& c : {std::vector<Number>{1}, {1, 0, 0}, {0, infinity}, {Number(0, none), 1}})
    new_chebyshev(c, -1, 1, POLYKEM_CKKS_ERR_ARGUMENT);
  const std::vector<Number> c{1, 2};
  for (const auto& [a, b] : {std::pair(1.0, 1.0),
                             {2.0, 1.0},
                             {none, 1.0},
                             {0.0, infinity},
                             {-1.5e308, 1.5e308},
                             {0.0, std::numeric_limits<double>::denorm_min()}})
    new_chebyshev(c, a, b, POLYKEM_CKKS_ERR_ARGUMENT);
  polykem_ckks_chebyshev* out = nullptr;
  const double two[4] = {1, 0, 2, 0};
  EXPECT_EQ(polykem_ckks_chebyshev_new(nullptr, 2, -1, 1, &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_chebyshev_new(two, 2, -1, 1, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  for (const size_t count : {size_t{0}, size_t{1}, SIZE_MAX})
    EXPECT_EQ(polykem_ckks_chebyshev_new(two, count, -1, 1, &out), POLYKEM_CKKS_ERR_ARGUMENT) << count;
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(polykem_ckks_chebyshev_levels(nullptr), 0U);
  polykem_ckks_chebyshev_free(nullptr);
}

TEST_F(CkksFunction, OperandsOfPolynomialsThatAreRefused) {
  const CiphertextsHandle x = encrypted({0.5, -0.25});
  const ChebyshevHandle three = new_chebyshev({1, 0, 0, 1}, -1, 1),
                        sixteen = new_chebyshev(std::vector<Number>(17, 1), -1, 1);
  applied(sixteen, x, POLYKEM_CKKS_ERR_NO_LEVEL);
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("takes 5 levels, and the ciphertexts have 4 left"),
            std::string::npos)
      << polykem_ckks_error_text();
  applied(three, x, POLYKEM_CKKS_ERR_ARGUMENT, 0);
  for (const size_t step : {size_t{2}, size_t{6}, SIZE_MAX})
    applied(three, x, POLYKEM_CKKS_ERR_NO_LEVEL, step);
  applied(three, encrypted({1, 2}, 0x1p30), POLYKEM_CKKS_ERR_SCALES);
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("too far from the primes"), std::string::npos);
  const auto product = result_of<CiphertextsHandle>(POLYKEM_CKKS_OK, [&](auto** out) {
    return polykem_ckks_combine(context.get(), POLYKEM_CKKS_MUL, x.get(), x.get(), out);
  });
  const auto unscaled = result_of<CiphertextsHandle>(
      POLYKEM_CKKS_OK, [&](auto** out) { return polykem_ckks_with_scale(context.get(), product.get(), 0x1p40, out); });
  applied(three, unscaled, POLYKEM_CKKS_ERR_PARTS);
  std::vector<uint64_t> q(1);
  ASSERT_EQ(polykem_ckks_find_primes(6, 45, 1, nullptr, 0, q.data()), POLYKEM_CKKS_OK);
  const ContextHandle other = new_context(6, q, {}, 1);
  polykem_ckks_ciphertexts* out = nullptr;
  EXPECT_EQ(polykem_ckks_chebyshev_apply(other.get(), three.get(), x.get(), key.get(), 1, &out),
            POLYKEM_CKKS_ERR_ARGUMENT);
  for (unsigned missing = 0; missing < 5; ++missing)
    EXPECT_EQ(polykem_ckks_chebyshev_apply(missing == 0 ? nullptr : context.get(), missing == 1 ? nullptr : three.get(),
                                           missing == 2 ? nullptr : x.get(), missing == 3 ? nullptr : key.get(), 1,
                                           missing == 4 ? nullptr : &out),
              POLYKEM_CKKS_ERR_ARGUMENT)
        << missing;
  EXPECT_EQ(out, nullptr);
}

TEST_F(CkksFunction, MatricesOfEncryptedNumbers) {
  const std::vector<Number> x{1, Number(0, 1), -0.5, 0.25};
  const std::vector<Number> diagonals{1, 2, 3, 4, Number(0, 1), 0, -1, 0, 0.5, 0.5, 0, 1};
  const TransformHandle transform = new_transform(context.get(), {0, 1, -1}, diagonals, 4, 5);
  std::vector<SwitchingKeyHandle> keys;
  for (const long steps : rotations_of(transform))
    keys.push_back(rotation_key(steps));
  const std::vector<Number> y = decrypted(product_of(context.get(), transform, encrypted(x), keys));
  for (size_t i = 0; i < 4; ++i) {
    const Number expected = diagonals[i] * x[i] + diagonals[4 + i] * x[(i + 1) % 4] + diagonals[8 + i] * x[(i + 3) % 4];
    EXPECT_LT(std::abs(y[i] - expected), 0x1p-20) << i;
  }
}

TEST_F(CkksFunction, MatricesThatAreRefused) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](const std::vector<long>& numbers, const std::vector<Number>& diagonals, size_t slots,
                           size_t limbs, size_t step, polykem_ckks_status status) {
    new_transform(context.get(), numbers, diagonals, slots, limbs, step, status);
  };
  refused({0, 4}, std::vector<Number>(8, 1), 4, 5, 1, POLYKEM_CKKS_ERR_ARGUMENT);  // one number modulo the slots
  refused({1, -3}, std::vector<Number>(8, 1), 4, 5, 1, POLYKEM_CKKS_ERR_ARGUMENT);
  refused({LONG_MIN, 0}, std::vector<Number>(8, 1), 4, 5, 1, POLYKEM_CKKS_ERR_ARGUMENT);
  refused({0, 1}, std::vector<Number>(8), 4, 5, 1, POLYKEM_CKKS_ERR_ARGUMENT);  // zeros
  refused({0}, {1, none, 0, 0}, 4, 5, 1, POLYKEM_CKKS_ERR_ARGUMENT);
  for (const size_t slots : {size_t{0}, size_t{3}, size_t{64}, SIZE_MAX})
    refused({0}, std::vector<Number>(64, 1), slots, 5, 1, POLYKEM_CKKS_ERR_ARGUMENT);
  refused({0}, std::vector<Number>(4, 1), 4, 5, 0, POLYKEM_CKKS_ERR_ARGUMENT);
  refused({0}, std::vector<Number>(4, 1), 4, 6, 1, POLYKEM_CKKS_ERR_LEVELS);
  for (const auto& [limbs, step] : {std::pair<size_t, size_t>{1, 1}, {0, 1}, {3, 2}, {5, SIZE_MAX}})
    refused({0}, std::vector<Number>(4, 1), 4, limbs, step, POLYKEM_CKKS_ERR_NO_LEVEL);
  polykem_ckks_transform* out = nullptr;
  const long number = 0;
  const double one[2] = {1, 0};
  EXPECT_EQ(polykem_ckks_transform_new(nullptr, &number, 1, one, 1, 5, 1, &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_transform_new(context.get(), nullptr, 1, one, 1, 5, 1, &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_transform_new(context.get(), &number, 1, nullptr, 1, 5, 1, &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_transform_new(context.get(), &number, 1, one, 1, 5, 1, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  for (const size_t count : {size_t{0}, SIZE_MAX})
    EXPECT_EQ(polykem_ckks_transform_new(context.get(), &number, count, one, 1, 5, 1, &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(polykem_ckks_transform_rotation_count(nullptr), 0U);
  polykem_ckks_transform_free(nullptr);
}

TEST_F(CkksFunction, OperandsOfMatricesThatAreRefused) {
  const TransformHandle transform = new_transform(context.get(), {0, 1}, std::vector<Number>(8, 1), 4, 4);
  const CiphertextsHandle x = encrypted({1, 2, 3, 4});
  std::vector<SwitchingKeyHandle> keys;
  long steps[2] = {7, 7};
  for (const size_t count : {size_t{0}, size_t{2}})
    EXPECT_EQ(polykem_ckks_transform_rotations(transform.get(), steps, count), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_transform_rotations(transform.get(), nullptr, 1), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_transform_rotations(nullptr, steps, 1), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(steps[0], 7);
  product_of(context.get(), transform, x, keys, POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("1 elements are needed, and the array has 0"),
            std::string::npos)
      << polykem_ckks_error_text();
  keys.push_back(nullptr);
  product_of(context.get(), transform, x, keys, POLYKEM_CKKS_ERR_ARGUMENT);
  keys[0] = rotation_key(1);
  product_of(context.get(), transform, x, keys);
  product_of(context.get(), transform, encrypted({1, 2}), keys, POLYKEM_CKKS_ERR_ARGUMENT);
  const auto short_x = result_of<CiphertextsHandle>(
      POLYKEM_CKKS_OK, [&](auto** out) { return polykem_ckks_keep_limbs(context.get(), x.get(), 3, out); });
  product_of(context.get(), transform, short_x, keys, POLYKEM_CKKS_ERR_LEVELS);
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("made for 4 limbs, and the ciphertexts have 3"),
            std::string::npos)
      << polykem_ckks_error_text();
  std::vector<uint64_t> q(5);
  ASSERT_EQ(polykem_ckks_find_primes(6, 45, 5, nullptr, 0, q.data()), POLYKEM_CKKS_OK);
  const ContextHandle other = new_context(6, q, {}, 5);
  const TransformHandle others = new_transform(other.get(), {0, 1}, std::vector<Number>(8, 1), 4, 4);
  product_of(other.get(), transform, x, keys, POLYKEM_CKKS_ERR_ARGUMENT);
  product_of(context.get(), others, x, keys, POLYKEM_CKKS_ERR_ARGUMENT);
  const polykem_ckks_switching_key* const pointers[1] = {keys[0].get()};
  polykem_ckks_ciphertexts* out = nullptr;
  for (unsigned missing = 0; missing < 5; ++missing)
    EXPECT_EQ(polykem_ckks_transform_apply(missing == 0 ? nullptr : context.get(),
                                           missing == 1 ? nullptr : transform.get(), missing == 2 ? nullptr : x.get(),
                                           missing == 3 ? nullptr : pointers, 1, missing == 4 ? nullptr : &out),
              POLYKEM_CKKS_ERR_ARGUMENT)
        << missing;
  EXPECT_EQ(out, nullptr);
}

/// Rotations by several steps at once.
TEST_F(CkksFunction, AutomorphismsThatAreRefused) {
  const CiphertextsHandle x = encrypted({0.5, -0.25});
  const uint64_t gs[2] = {5, 4};
  const polykem_ckks_switching_key* const keys[2] = {key.get(), nullptr};
  polykem_ckks_ciphertexts* out[2] = {};
  const auto call = [&](size_t count) {
    return polykem_ckks_automorphisms(context.get(), x.get(), gs, keys, count, out);
  };
  EXPECT_EQ(call(2), POLYKEM_CKKS_ERR_ARGUMENT) << "a key is NULL";
  const polykem_ckks_switching_key* const both[2] = {key.get(), key.get()};
  EXPECT_EQ(polykem_ckks_automorphisms(context.get(), x.get(), gs, both, 2, out), POLYKEM_CKKS_ERR_ARGUMENT)
      << "4 is even";
  EXPECT_EQ(polykem_ckks_automorphisms(context.get(), x.get(), nullptr, both, 1, out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_automorphisms(context.get(), x.get(), gs, nullptr, 1, out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_automorphisms(context.get(), x.get(), gs, both, 1, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(call(0), POLYKEM_CKKS_OK);
  EXPECT_TRUE(out[0] == nullptr && out[1] == nullptr);
}

}  // namespace
}  // namespace polykem::ckks::test
