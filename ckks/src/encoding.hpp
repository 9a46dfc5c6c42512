// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <span>

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"

namespace polykem::ckks {

using Complex = std::complex<double>;

// Messages of `slots` complex numbers, a power of two up to N/2, become polynomials m of X^(N / (2 slots)) with
// m(zeta^(5^j)) = slot j, where zeta = exp(i pi / (2 slots)) [CKKS17, 3.2]. Time and memory access depend on the
// values: encoding does not hide messages from those who share the machine.

/// Encodes messages. values: [count][slots]. Coefficients are rounded to integers after multiplication by `scale`.
/// Throws Error(argument) if a value is not finite, or too large for the first `limbs` primes.
Plaintexts encode(const Context& context, std::span<const Complex> values, size_t slots, size_t limbs, double scale);

/// Decodes one item: plaintext.slots numbers.
void decode(const Context& context, const Plaintexts& plaintext, size_t item, std::span<Complex> values);

/// Returns the N coefficients of one item divided by the scale, where each coefficient is the representative nearest
/// to 0.
SecretVector<double> coefficients(const Context& context, const Plaintexts& plaintext, size_t item);

}  // namespace polykem::ckks
