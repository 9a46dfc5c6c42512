// SPDX-License-Identifier: Apache-2.0
// Tests which parameter sets and words the C API accepts, and its errors for others.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "handles.hpp"

namespace {

using Context = polykem::ckks::test::ContextHandle;
using Plaintexts = polykem::ckks::test::PlaintextsHandle;
using Ciphertexts = polykem::ckks::test::CiphertextsHandle;
using SecretKey = polykem::ckks::test::SecretKeyHandle;
using PublicKey = polykem::ckks::test::PublicKeyHandle;
using SwitchingKey = polykem::ckks::test::SwitchingKeyHandle;

/// A call whose last argument is a new object.
template <typename Handle, typename Call, typename... Arguments>
Handle made(Call call, Arguments... arguments) {
  typename Handle::pointer out = nullptr;
  EXPECT_EQ(call(arguments..., &out), POLYKEM_CKKS_OK) << polykem_ckks_error_text();
  return Handle(out);
}

struct CkksApi : testing::Test {
  std::vector<uint64_t> q = primes(50, 1, {}), p;
  polykem_ckks_parameters parameters{};

  CkksApi() {
    for (const uint64_t prime : primes(40, 3, q))
      q.push_back(prime);
    p = primes(60, 2, {});
    parameters = {sizeof parameters, 6, q.size(), q.data(), nullptr, p.size(), p.data(), nullptr, 2, 1, 1};
  }
  static std::vector<uint64_t> primes(unsigned bits, size_t count, const std::vector<uint64_t>& taken) {
    std::vector<uint64_t> out(count);
    EXPECT_EQ(polykem_ckks_find_primes(6, bits, count, taken.data(), taken.size(), out.data()), POLYKEM_CKKS_OK);
    return out;
  }
  polykem_ckks_status refusal() {
    polykem_ckks_context* out = nullptr;
    const polykem_ckks_status status = polykem_ckks_context_new(&parameters, &out);
    EXPECT_EQ(out, nullptr);
    polykem_ckks_context_free(out);
    return status;
  }
};

/// Sets of the same primes whose keys have other sizes.
TEST_F(CkksApi, RefusesKeysOfOtherDigits) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  const auto secret = made<SecretKey>(polykem_ckks_secret_key_generate, context.get());
  const auto key = made<PublicKey>(polykem_ckks_public_key_generate, context.get(), secret.get());
  const std::vector<double> z{0.5, 0};
  const auto plain =
      made<Plaintexts>(polykem_ckks_encode, context.get(), z.data(), size_t{1}, size_t{1}, size_t{4}, 0x1p40);
  const auto c = made<Ciphertexts>(polykem_ckks_encrypt, context.get(), key.get(), plain.get());
  const auto product = made<Ciphertexts>(polykem_ckks_combine, context.get(), POLYKEM_CKKS_MUL, c.get(), c.get());
  parameters.digits = 4;
  const auto other = made<Context>(polykem_ckks_context_new, &parameters);
  const auto others_secret = made<SecretKey>(polykem_ckks_secret_key_generate, other.get());
  const auto others = made<SwitchingKey>(polykem_ckks_relinearisation_key_generate, other.get(), others_secret.get());
  polykem_ckks_ciphertexts* out = nullptr;
  EXPECT_EQ(polykem_ckks_relinearise(context.get(), product.get(), others.get(), &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(out, nullptr);
}

TEST_F(CkksApi, FromAMessageToItsProductAndBack) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  EXPECT_EQ(polykem_ckks_ring_dimension(context.get()), 64U);
  EXPECT_EQ(polykem_ckks_security_bits(context.get()), 0U);
  const auto secret = made<SecretKey>(polykem_ckks_secret_key_generate, context.get());
  const auto key = made<PublicKey>(polykem_ckks_public_key_generate, context.get(), secret.get());
  const auto square = made<SwitchingKey>(polykem_ckks_relinearisation_key_generate, context.get(), secret.get());
  const uint64_t g = polykem_ckks_rotation_element(context.get(), 1);
  const auto turn = made<SwitchingKey>(polykem_ckks_automorphism_key_generate, context.get(), secret.get(), g);
  const std::vector<double> z{0.5, 0, -0.25, 1, 2, 0, 0, -1};
  const auto plain =
      made<Plaintexts>(polykem_ckks_encode, context.get(), z.data(), size_t{1}, size_t{4}, size_t{4}, 0x1p40);
  const auto c = made<Ciphertexts>(polykem_ckks_encrypt, context.get(), key.get(), plain.get());
  const auto product = made<Ciphertexts>(polykem_ckks_combine, context.get(), POLYKEM_CKKS_MUL, c.get(), c.get());
  const auto two = made<Ciphertexts>(polykem_ckks_relinearise, context.get(), product.get(), square.get());
  const auto turned = made<Ciphertexts>(polykem_ckks_automorphism, context.get(), two.get(), g, turn.get());
  polykem_ckks_ciphertexts* several[2] = {};
  const uint64_t of_several[] = {g, g};
  const polykem_ckks_switching_key* const keys_of_several[] = {turn.get(), turn.get()};
  ASSERT_EQ(polykem_ckks_automorphisms(context.get(), two.get(), of_several, keys_of_several, 2, several),
            POLYKEM_CKKS_OK);
  for (polykem_ckks_ciphertexts* const one : several) {
    const Ciphertexts owned(one);
    size_t words = 0, same = 0;
    const uint64_t* const a = polykem_ckks_ciphertexts_words(one, &words);
    EXPECT_TRUE(std::equal(a, a + words, polykem_ckks_ciphertexts_words(turned.get(), &same)) && words == same);
  }
  const auto lower = made<Ciphertexts>(polykem_ckks_rescale, context.get(), turned.get());
  const auto sum = made<Ciphertexts>(polykem_ckks_combine, context.get(), POLYKEM_CKKS_ADD, lower.get(), lower.get());
  const auto result = made<Plaintexts>(polykem_ckks_decrypt, context.get(), secret.get(), sum.get());
  polykem_ckks_shape shape{};
  shape.struct_size = sizeof shape;
  ASSERT_EQ(polykem_ckks_ciphertexts_shape(sum.get(), &shape), POLYKEM_CKKS_OK);
  EXPECT_EQ(shape.limbs, 3U);
  EXPECT_EQ(shape.slots, 4U);
  std::vector<double> out(8);
  ASSERT_EQ(polykem_ckks_decode(context.get(), result.get(), out.data(), size_t{4}), POLYKEM_CKKS_OK);
  const std::vector<double> expected{2 * (0.0625 - 1), -1, 8, 0, -2, 0, 0.5, 0};
  for (size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(out[i], expected[i], 1e-6) << i;
}

TEST_F(CkksApi, ParametersAreChecked) {
  parameters.struct_size = 8;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_ARGUMENT);
  parameters.struct_size = sizeof parameters;
  parameters.allow_insecure = 0;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_INSECURE);
  parameters.allow_insecure = 1;
  for (const unsigned log_n : {0U, 3U, 17U, 64U}) {
    parameters.log_n = log_n;
    EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS) << log_n;
  }
  parameters.log_n = 16;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS) << "the primes are too few powers of two above 1";
  parameters.log_n = 6;
  for (const unsigned digits : {0U, 5U}) {
    parameters.digits = digits;
    EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS) << digits;
  }
  parameters.digits = 1;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS) << "170 bits in a digit, 120 in p";
  parameters.digits = 3;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS) << "four primes in digits of two make two";
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("ask for 2"), std::string::npos) << polykem_ckks_error_text();
  parameters.digits = 2;
  parameters.threads = 1025;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS);
  parameters.threads = 1;
  const std::vector<uint64_t> many = primes(60, 65, q);
  parameters.p = many.data();
  parameters.p_count = many.size();
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS);
  parameters.p = p.data();
  parameters.p_count = p.size();
  parameters.digits = 2;
  const uint64_t good = q[2];
  for (const uint64_t bad : {uint64_t{0}, uint64_t{1}, q[1], q[2] + 2, uint64_t{128} * 3 + 1, ~uint64_t{0}}) {
    q[2] = bad;
    EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS) << bad;
  }
  q[2] = good;
  std::vector<uint64_t> roots(4, 1);
  parameters.q_roots = roots.data();
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS);
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("q[0]"), std::string::npos) << polykem_ckks_error_text();
  parameters.q_roots = nullptr;
  parameters.q_count = 0;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS);
  parameters.q_count = 1000;
  EXPECT_EQ(refusal(), POLYKEM_CKKS_ERR_PARAMETERS);
}

TEST_F(CkksApi, WordsAreChecked) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  polykem_ckks_shape shape{sizeof shape, 1, 2, 2, 32, 0x1p40};
  std::vector<uint64_t> words(4 * 64);
  EXPECT_NE(made<Ciphertexts>(polykem_ckks_ciphertexts_new, context.get(), &shape, words.data(), words.size()),
            nullptr);
  const auto attempt = [&] {
    polykem_ckks_ciphertexts* out = nullptr;
    const polykem_ckks_status status =
        polykem_ckks_ciphertexts_new(context.get(), &shape, words.data(), words.size(), &out);
    EXPECT_EQ(out, nullptr);
    return status;
  };
  words[3 * 64 + 7] = q[1];
  EXPECT_EQ(attempt(), POLYKEM_CKKS_ERR_RESIDUES);
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("word 7 of row 3"), std::string::npos);
  words[3 * 64 + 7] = q[1] - 1;
  for (const auto& change : {polykem_ckks_shape{sizeof shape, 0, 2, 2, 32, 1},
                             {sizeof shape, 1, 1, 2, 32, 1},
                             {sizeof shape, 1, 4, 2, 32, 1},
                             {sizeof shape, 1, 2, 2, 33, 1},
                             {sizeof shape, 1, 2, 2, 64, 1},
                             {sizeof shape, 1, 2, 2, 32, 0},
                             {sizeof shape, 1, 2, 2, 32, std::numeric_limits<double>::infinity()},
                             {sizeof shape, SIZE_MAX / 4, 2, 2, 32, 1},
                             {8, 1, 2, 2, 32, 1}}) {
    shape = change;
    EXPECT_EQ(attempt(), POLYKEM_CKKS_ERR_ARGUMENT);
  }
  shape = {sizeof shape, 1, 2, 5, 32, 1};
  EXPECT_EQ(attempt(), POLYKEM_CKKS_ERR_LEVELS);
  polykem_ckks_secret_key* key = nullptr;
  words.assign(64, 0);
  words[5] = 2;
  EXPECT_EQ(polykem_ckks_secret_key_new(context.get(), words.data(), words.size(), &key), POLYKEM_CKKS_ERR_RESIDUES);
}

TEST_F(CkksApi, KeysTravelAsWords) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  const auto secret = made<SecretKey>(polykem_ckks_secret_key_generate, context.get());
  size_t count = 0;
  const uint64_t* const words = polykem_ckks_secret_key_words(secret.get(), &count);
  EXPECT_EQ(count, 6U * 64);
  const auto copy = made<SecretKey>(polykem_ckks_secret_key_new, context.get(), words, size_t{64});
  EXPECT_TRUE(std::equal(words, words + count, polykem_ckks_secret_key_words(copy.get(), nullptr)));
  const auto key = made<SwitchingKey>(polykem_ckks_relinearisation_key_generate, context.get(), secret.get());
  const uint64_t* const words_of_key = polykem_ckks_switching_key_words(key.get(), &count);
  EXPECT_EQ(count, 2U * 2 * 6 * 64);
  EXPECT_NE(made<SwitchingKey>(polykem_ckks_switching_key_new, context.get(), words_of_key, count), nullptr);
}

/// Calls each function that takes an array with every wrong length near the right one, for sanitizers.
TEST_F(CkksApi, ArraysOfOtherLengthsAreRefused) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  const polykem_ckks_shape two{sizeof two, 2, 2, 3, 32, 0x1p40}, one{sizeof one, 2, 1, 3, 32, 0x1p40};
  polykem_ckks_ciphertexts* ciphertexts = nullptr;
  polykem_ckks_plaintexts* plaintexts = nullptr;
  polykem_ckks_secret_key* secret = nullptr;
  polykem_ckks_public_key* key = nullptr;
  polykem_ckks_switching_key* switching = nullptr;
  const auto set = context.get();
  const struct {
    const char* name;
    size_t length;
    std::function<polykem_ckks_status(const uint64_t*, size_t)> call;
  } functions[] = {
      {"ciphertexts", 2 * 2 * 3 * 64,
       [&](auto words, auto n) { return polykem_ckks_ciphertexts_new(set, &two, words, n, &ciphertexts); }},
      {"plaintexts", 2 * 3 * 64,
       [&](auto words, auto n) { return polykem_ckks_plaintexts_new(set, &one, words, n, &plaintexts); }},
      {"secret key", 64, [&](auto words, auto n) { return polykem_ckks_secret_key_new(set, words, n, &secret); }},
      {"public key", 2 * 4 * 64, [&](auto words, auto n) { return polykem_ckks_public_key_new(set, words, n, &key); }},
      {"switching key", 2 * 2 * 6 * 64,
       [&](auto words, auto n) { return polykem_ckks_switching_key_new(set, words, n, &switching); }}};
  for (const auto& function : functions) {
    for (const size_t length : {size_t{0}, size_t{1}, function.length / 2, function.length - 64, function.length - 1,
                                function.length + 1, function.length + 64, 2 * function.length}) {
      const std::unique_ptr<uint64_t[]> words(new uint64_t[length]());
      EXPECT_EQ(function.call(words.get(), length), POLYKEM_CKKS_ERR_ARGUMENT) << function.name << ' ' << length;
      const std::string text = polykem_ckks_error_text();
      EXPECT_NE(text.find(std::to_string(function.length) + " elements are needed"), std::string::npos) << text;
    }
    const std::vector<uint64_t> words(function.length);
    EXPECT_EQ(function.call(words.data(), words.size()), POLYKEM_CKKS_OK) << function.name;
  }
  double values[130] = {7};
  for (const size_t numbers : {size_t{0}, size_t{63}, size_t{65}, SIZE_MAX})
    EXPECT_EQ(polykem_ckks_decode(set, plaintexts, values, numbers), POLYKEM_CKKS_ERR_ARGUMENT) << numbers;
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(polykem_ckks_decode(set, plaintexts, values, 64), POLYKEM_CKKS_OK);
  polykem_ckks_ciphertexts_free(ciphertexts);
  polykem_ckks_plaintexts_free(plaintexts);
  polykem_ckks_secret_key_free(secret);
  polykem_ckks_public_key_free(key);
  polykem_ckks_switching_key_free(switching);
}

TEST_F(CkksApi, ScalesBeyondTheModulusAreRefused) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  const std::vector<uint64_t> zeros(2 * 2 * 64);
  const polykem_ckks_shape two{sizeof two, 1, 2, 2, 1, 0x1p60}, one{sizeof one, 1, 2, 1, 1, 0x1p30};  // 90 and 50 bits
  const auto a = made<Ciphertexts>(polykem_ckks_ciphertexts_new, context.get(), &two, zeros.data(), size_t{2 * 2 * 64});
  const auto b = made<Ciphertexts>(polykem_ckks_ciphertexts_new, context.get(), &one, zeros.data(), size_t{2 * 64});
  const double z[2] = {1, 0};
  const auto plain = made<Plaintexts>(polykem_ckks_encode, context.get(), z, size_t{1}, size_t{1}, size_t{2}, 0x1p31);
  polykem_ckks_ciphertexts* out = nullptr;
  EXPECT_EQ(polykem_ckks_keep_limbs(context.get(), a.get(), 1, &out), POLYKEM_CKKS_ERR_SCALES);
  EXPECT_EQ(polykem_ckks_combine(context.get(), POLYKEM_CKKS_MUL, a.get(), a.get(), &out), POLYKEM_CKKS_ERR_SCALES);
  EXPECT_EQ(polykem_ckks_combine(context.get(), POLYKEM_CKKS_MUL, b.get(), b.get(), &out), POLYKEM_CKKS_ERR_SCALES);
  EXPECT_EQ(polykem_ckks_combine_plain(context.get(), POLYKEM_CKKS_MUL, a.get(), plain.get(), &out),
            POLYKEM_CKKS_ERR_SCALES);
  EXPECT_EQ(out, nullptr);
  EXPECT_NE(made<Ciphertexts>(polykem_ckks_keep_limbs, context.get(), a.get(), size_t{2}), nullptr);
}

/// Calls with &out, which must be set exactly if the call returns OK.
template <typename Handle, typename Call>
polykem_ckks_status status_of(const Call& call) {
  typename Handle::pointer out = nullptr;
  const polykem_ckks_status status = call(&out);
  EXPECT_EQ(status == POLYKEM_CKKS_OK, out != nullptr);
  const Handle owner(out);
  return status;
}

/// Numbers that are not scales, and one that is not below the modulus; the message names the bound.
TEST_F(CkksApi, ScalesThatAreGivenAreChecked) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  const auto* const set = context.get();
  const std::vector<uint64_t> zeros(2 * 4 * 64);
  const double z[2] = {0, 0};
  const auto shape = [](size_t parts, size_t limbs, double scale) {
    return polykem_ckks_shape{sizeof(polykem_ckks_shape), 1, parts, limbs, 1, scale};
  };
  const auto ciphertexts = [&](size_t limbs, double scale) {
    return status_of<Ciphertexts>([&, like = shape(2, limbs, scale)](auto** out) {
      return polykem_ckks_ciphertexts_new(set, &like, zeros.data(), limbs * 2 * 64, out);
    });
  };
  const auto plaintexts = [&](size_t limbs, double scale) {
    return status_of<Plaintexts>([&, like = shape(1, limbs, scale)](auto** out) {
      return polykem_ckks_plaintexts_new(set, &like, zeros.data(), limbs * 64, out);
    });
  };
  const auto encode = [&](size_t limbs, double scale) {
    return status_of<Plaintexts>([&](auto** out) { return polykem_ckks_encode(set, z, 1, 1, limbs, scale, out); });
  };
  const auto with_scale = [&](size_t limbs, double scale) {
    const polykem_ckks_shape like = shape(2, limbs, 2);
    const auto a = made<Ciphertexts>(polykem_ckks_ciphertexts_new, set, &like, zeros.data(), limbs * 2 * 64);
    return status_of<Ciphertexts>([&](auto** out) { return polykem_ckks_with_scale(set, a.get(), scale, out); });
  };
  const auto says = [](const char* text) {
    return std::string(polykem_ckks_error_text()).find(text) != std::string::npos;
  };
  const double infinity = std::numeric_limits<double>::infinity(), q0 = static_cast<double>(q[0]);
  for (const std::function<polykem_ckks_status(size_t, double)>& call :
       {std::function(ciphertexts), std::function(plaintexts), std::function(encode), std::function(with_scale)}) {
    for (const double scale : {0.0, -1.0, -infinity, infinity, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_EQ(call(4, scale), POLYKEM_CKKS_ERR_ARGUMENT) << scale;
      EXPECT_TRUE(says("a scale is"));
    }
    EXPECT_EQ(call(1, q0), POLYKEM_CKKS_ERR_SCALES);
    EXPECT_TRUE(says("not below the modulus, 2^50.00 with 1 limb:")) << polykem_ckks_error_text();
    EXPECT_EQ(call(1, q0 - 4096), POLYKEM_CKKS_OK);
    EXPECT_EQ(call(4, 0x1p171), POLYKEM_CKKS_ERR_SCALES) << "50 + 3 * 40 bits";
    EXPECT_EQ(call(4, 0x1p169), POLYKEM_CKKS_OK);
  }
}

TEST_F(CkksApi, ParameterSetsAreToldApart) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  const auto secret = made<SecretKey>(polykem_ckks_secret_key_generate, context.get());
  const auto key = made<SwitchingKey>(polykem_ckks_relinearisation_key_generate, context.get(), secret.get());
  const double z[2] = {1, 0};
  const auto plain = made<Plaintexts>(polykem_ckks_encode, context.get(), z, size_t{1}, size_t{1}, size_t{4}, 0x1p40);
  const polykem_ckks_shape shape{sizeof shape, 1, 3, 4, 32, 0x1p40};
  const std::vector<uint64_t> zeros(3 * 4 * 64);

  const auto same = made<Context>(polykem_ckks_context_new, &parameters);
  const auto c = made<Ciphertexts>(polykem_ckks_ciphertexts_new, same.get(), &shape, zeros.data(), zeros.size());
  EXPECT_NE(made<Ciphertexts>(polykem_ckks_relinearise, context.get(), c.get(), key.get()), nullptr);

  p = primes(60, 2, p);
  parameters.p = p.data();
  const auto other_p = made<Context>(polykem_ckks_context_new, &parameters);
  polykem_ckks_ciphertexts* out = nullptr;
  polykem_ckks_plaintexts* decrypted = nullptr;
  EXPECT_EQ(polykem_ckks_relinearise(other_p.get(), c.get(), key.get(), &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_decrypt(other_p.get(), secret.get(), c.get(), &decrypted), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_NE(made<Ciphertexts>(polykem_ckks_combine, other_p.get(), POLYKEM_CKKS_ADD, c.get(), c.get()), nullptr);

  std::swap(q[2], q[3]);
  const auto other_q = made<Context>(polykem_ckks_context_new, &parameters);
  double values[2] = {7, 7};
  EXPECT_EQ(polykem_ckks_negate(other_q.get(), c.get(), &out), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_decode(other_q.get(), plain.get(), values, size_t{1}), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(out, nullptr);
}

TEST_F(CkksApi, KeySwitchingWantsSpecialPrimes) {
  parameters.p_count = 0;
  parameters.threads = 0;
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  const auto secret = made<SecretKey>(polykem_ckks_secret_key_generate, context.get());
  const std::vector<uint64_t> zeros(size_t{2} * 2 * 4 * 64);
  polykem_ckks_switching_key* key = nullptr;
  EXPECT_EQ(polykem_ckks_relinearisation_key_generate(context.get(), secret.get(), &key), POLYKEM_CKKS_ERR_PARAMETERS);
  EXPECT_EQ(polykem_ckks_switching_key_new(context.get(), zeros.data(), zeros.size(), &key),
            POLYKEM_CKKS_ERR_PARAMETERS);
}

TEST_F(CkksApi, RotationsOfEveryNumberOfSteps) {
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  EXPECT_EQ(polykem_ckks_rotation_element(context.get(), LONG_MIN), 1U) << "a multiple of the 32 slots";
  EXPECT_EQ(polykem_ckks_rotation_element(context.get(), LONG_MAX), polykem_ckks_rotation_element(context.get(), -1));
}

TEST_F(CkksApi, WithoutAModuleThereIsNoDevice) {
  ASSERT_EQ(setenv("POLYKEM_CKKS_CUDA_MODULE", "", 1), 0);
  const uint64_t prime = 0xffffee001;  // 1 mod 2^13
  parameters = {sizeof parameters, 12, 1, &prime, nullptr, 0, nullptr, nullptr, 1, 1, 1};
  const auto context = made<Context>(polykem_ckks_context_new, &parameters);
  polykem_ckks_device* device = nullptr;
  EXPECT_EQ(polykem_ckks_device_open(context.get(), 0, 0, &device), POLYKEM_CKKS_ERR_DEVICE);
  EXPECT_EQ(device, nullptr);
  EXPECT_NE(std::string(polykem_ckks_error_text()).find("no GPU can be used"), std::string::npos);
}

TEST_F(CkksApi, NullPointersAreErrors) {
  polykem_ckks_context* context = nullptr;
  EXPECT_EQ(polykem_ckks_context_new(nullptr, &context), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_context_new(&parameters, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_rescale(nullptr, nullptr, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_find_primes(6, 40, 1, nullptr, 1, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_ciphertexts_words(nullptr, nullptr), nullptr);
  EXPECT_EQ(polykem_ckks_device_open(nullptr, 0, 0, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_ciphertexts_to_device(nullptr, nullptr, nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(polykem_ckks_device_wait(nullptr), POLYKEM_CKKS_ERR_ARGUMENT);
  polykem_ckks_device_free(nullptr);
  polykem_ckks_context_free(nullptr);
  polykem_ckks_ciphertexts_free(nullptr);
}

}  // namespace
