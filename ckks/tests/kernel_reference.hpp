// SPDX-License-Identifier: Apache-2.0
// Simple references for the kernels of ckks/src/cuda, and inputs.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "ckks/src/cuda/tables.hpp"

namespace polykem::ckks::test {

using cuda::multiply_mod;
using cuda::PrimeRoot;
using Residues = std::vector<uint64_t>;

/// Returns the `count` largest primes below 2^bits that are 1 modulo 2N, each with a primitive 2N-th root of unity.
std::vector<PrimeRoot> make_primes(int count, int bits, int log_n);

/// Computes x[i] = a(psi^(2 rev(i) + 1)) in place; the length is 2^log_n.
void reference_ntt(Residues& a, const PrimeRoot& prime);
void reference_intt(Residues& a, const PrimeRoot& prime);
/// Computes the same for one i, by evaluating the polynomial.
uint64_t evaluate(const Residues& a, uint32_t i, const PrimeRoot& prime);

/// Returns the coefficients of a(X^exponent) for an odd exponent.
Residues reference_automorphism(const Residues& a, uint64_t exponent, uint64_t q);

enum class Fill { kRandom, kZero, kMax, kSingle };
/// Residues modulo q: random, all 0, all q - 1, or zeros with one q - 1.
Residues make_residues(size_t count, uint64_t q, Fill fill, std::mt19937_64& random);

}  // namespace polykem::ckks::test
