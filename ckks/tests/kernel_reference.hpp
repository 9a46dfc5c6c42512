// SPDX-License-Identifier: Apache-2.0
// What the kernels of ckks/src/cuda must compute, written down plainly, and inputs for them.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "ckks/src/cuda/tables.hpp"

namespace polykem::ckks::testing {

using cuda::multiply_mod;
using cuda::PrimeRoot;
using Residues = std::vector<uint64_t>;

/// `count` primes below 2^bits, the largest that are 1 modulo 2N, each with a primitive 2N-th root of unity.
std::vector<PrimeRoot> make_primes(int count, int bits, int log_n);

/// x[i] = a(psi^(2 rev(i) + 1)), in place; of length 2^log_n.
void reference_ntt(Residues& a, const PrimeRoot& prime);
void reference_intt(Residues& a, const PrimeRoot& prime);
/// The same by evaluating the polynomial, for one i.
uint64_t evaluate(const Residues& a, uint32_t i, const PrimeRoot& prime);

/// a(X^exponent), coefficients, for an odd exponent.
Residues reference_automorphism(const Residues& a, uint64_t exponent, uint64_t q);

enum class Fill { kRandom, kZero, kMax, kSingle };
/// Residues modulo q: random, all 0, all q - 1, or zeros with one q - 1.
Residues make_residues(size_t count, uint64_t q, Fill fill, std::mt19937_64& random);

}  // namespace polykem::ckks::testing
