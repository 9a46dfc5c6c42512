// SPDX-License-Identifier: Apache-2.0
// Tests CKKS's kernels and their launches, compiled for a CPU, with fibres as threads.
#include <gtest/gtest.h>

#include <set>

#include "ckks/src/cuda/row_order.hpp"
#include "operation_checks.hpp"

namespace polykem::ckks::test {

namespace {

TEST(KernelReference, EvaluatesPolynomials) {
  for (int bits : {31, 61}) {
    const PrimeRoot prime = make_primes(1, bits, 12)[0];
    std::mt19937_64 random(1);
    const Residues a = make_residues(4096, prime.q, Fill::kRandom, random);
    Residues transformed = a;
    reference_ntt(transformed, prime);
    for (uint32_t i : {0u, 1u, 2048u, 4095u})
      EXPECT_EQ(transformed[i], evaluate(a, i, prime));
    reference_intt(transformed, prime);
    EXPECT_EQ(transformed, a);
  }
}

class TransformForm : public ::testing::TestWithParam<cuda::Form> {};

/// Simulating tensor cores is slow, so their forms get one row.
template <class Word>
void check_form(cuda::Form form, int bits) {
  for (int log_n = 12; log_n <= 16; ++log_n) {
    if (!cuda::supports(form, log_n, sizeof(Word))) continue;
    Verdict verdict;
    DeviceTables<Word> device(log_n, make_primes(2, bits, log_n));
    if (form >= cuda::Form::kImma256x256) {
      device.add_imma();
      check_ntt(form, device, {Fill::kMax}, verdict);
    } else {
      check_ntt(form, device, {Fill::kRandom, Fill::kZero, Fill::kMax, Fill::kSingle}, verdict);
    }
    EXPECT_EQ(verdict.faults(), 0u);
    EXPECT_GT(verdict.compared(), 0u);
  }
}

TEST_P(TransformForm, EqualsReference) {
  check_form<uint32_t>(GetParam(), 31);
  check_form<uint64_t>(GetParam(), 61);
}

INSTANTIATE_TEST_SUITE_P(Kernels, TransformForm,
                         ::testing::Values(cuda::Form::kOneBlock, cuda::Form::kCluster2, cuda::Form::kCluster4,
                                           cuda::Form::kCluster8, cuda::Form::kTwoPass, cuda::Form::kImma16));
INSTANTIATE_TEST_SUITE_P(Full, TransformForm, ::testing::Values(cuda::Form::kImma256x256, cuda::Form::kImma64x32x32));

TEST(TransformForms, RefuseWhatThereIsNot) {
  const DeviceTables<uint32_t> device(12, make_primes(1, 31, 12));
  EXPECT_EQ(cuda::ntt<uint32_t>(cuda::Form::kCluster8, cuda::Direction::kForward, nullptr, 1, first_primes(1),
                                device.tables, nullptr),
            cudaErrorInvalidValue);
}

TEST(RowOrder, TakesEveryRowOnce) {
  const cuda::RowMap map{6, {3, 1, cuda::RowMap::kSkip, 3, 0, 1}};
  for (size_t factor_bytes : {size_t{1}, size_t{1} << 30}) {
    const cuda::RowOrder order = cuda::make_row_order(map, 4, factor_bytes);
    ASSERT_EQ(order.rows(), 20u);
    std::set<std::pair<unsigned, unsigned>> seen;
    std::vector<unsigned> primes;
    for (unsigned number = 0; number < order.rows(); ++number) {
      const cuda::RowPlace place = order.place(number);
      EXPECT_LT(place.polynomial, 4u);
      EXPECT_EQ(place.prime, map.prime[place.row]);
      seen.insert({place.polynomial, place.row});
      primes.push_back(place.prime);
    }
    EXPECT_EQ(seen.size(), order.rows());
    EXPECT_EQ(std::is_sorted(primes.begin(), primes.end()), factor_bytes > 1);
  }
}

TEST(RowOrder, FindsPlacesOfManyRows) {
  cuda::RowMap map = first_primes(7);
  for (uint32_t polynomials : {1u, 3u, 1u << 20, 613566756u}) {  // 7 times the last is 2^32 - 4
    for (size_t factor_bytes : {size_t{1}, size_t{1} << 30}) {
      const cuda::RowOrder order = cuda::make_row_order(map, polynomials, factor_bytes);
      const auto rows = static_cast<uint32_t>(order.rows());
      for (uint32_t number : {0u, 1u, rows / 2, rows - 2, rows - 1}) {
        const cuda::RowPlace place = order.place(number);
        EXPECT_EQ(place.row, factor_bytes > 1 ? number / polynomials : number % 7);
        EXPECT_EQ(place.polynomial, factor_bytes > 1 ? number % polynomials : number / 7);
      }
    }
  }
}

template <class Word>
void check_shape(int bits, const Shape& shape, std::initializer_list<Fill> fills) {
  Verdict verdict;
  check_operations<Word>(12, bits, shape, fills, verdict);
  EXPECT_EQ(verdict.faults(), 0u);
  EXPECT_GT(verdict.compared(), 0u);
}

TEST(Operations, EqualReference) {
  check_shape<uint32_t>(31, {3, 2, 2, 2}, {Fill::kRandom, Fill::kMax});
  check_shape<uint64_t>(61, {3, 2, 2, 2}, {Fill::kMax});
}

TEST(Operations, TakeMoreDigitsAndCiphertextsThanOneLaunch) {
  const Shape shape{5, 1, 1, 9};
  const DeviceTables<uint32_t> device(12, make_primes(static_cast<int>(shape.key_limbs()), 31, 12));
  Verdict verdict;
  OperationCheck<uint32_t>(device, shape, verdict).key_products();
  EXPECT_EQ(verdict.faults(), 0u);
  EXPECT_GT(verdict.compared(), 0u);
}

TEST(Operations, TakeManySources) {
  check_shape<uint32_t>(31, {11, 9, 10, 1}, {Fill::kMax});
}

}  // namespace

}  // namespace polykem::ckks::test
