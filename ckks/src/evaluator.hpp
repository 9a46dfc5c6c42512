// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ckks/src/batches.hpp"
#include "ckks/src/context.hpp"

namespace polykem::ckks {

// Operations on batches of ciphertexts [CKKS17, 3.4], in residue number systems [CHKKS18, 3]. Operands have as many
// ciphertexts each; plaintexts may be one for all. A message of fewer slots than the other operand's counts as
// repeated. What does not fit together throws Error(levels), (scales), (parts) or (argument).

/// Scales that differ by less than this factor count as equal.
inline constexpr double kScaleTolerance = 0x1p-30;

Ciphertexts add(const Context& context, const Ciphertexts& a, const Ciphertexts& b);
Ciphertexts sub(const Context& context, const Ciphertexts& a, const Ciphertexts& b);
Ciphertexts negate(const Context& context, const Ciphertexts& a);
Ciphertexts add_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b);
Ciphertexts sub_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b);
/// Scales multiply. Like mul, keep_limbs and with_scale it throws what Context::check_scale does of the result.
Ciphertexts mul_plain(const Context& context, const Ciphertexts& a, const Plaintexts& b);
/// Three parts, of which the last belongs to s^2; scales multiply.
Ciphertexts mul(const Context& context, const Ciphertexts& a, const Ciphertexts& b);
/// Back to two parts, with the key of s^2.
Ciphertexts relinearise(const Context& context, const Ciphertexts& a, const SwitchingKey& key);
/// Divides by the last prime, rounds and drops it. Throws Error(no_level) if it is the only one.
Ciphertexts rescale(const Context& context, const Ciphertexts& a);
/// Without the last primes, at the same scale.
Ciphertexts keep_limbs(const Context& context, const Ciphertexts& a, size_t limbs);
/// The same residues at another scale.
Ciphertexts with_scale(const Context& context, const Ciphertexts& a, double scale);
/// `count` of the batch's ciphertexts, from number `first` on.
Ciphertexts items(const Context& context, const Ciphertexts& a, size_t first, size_t count);
/// X -> X^g, g odd and below 2N, with the key that rotation_element(...) or 2N - 1, conjugation, has.
Ciphertexts automorphism(const Context& context, const Ciphertexts& a, uint64_t g, const SwitchingKey& key);

/// The g that moves slot i + steps to slot i: 5^steps mod 2N.
uint64_t rotation_element(const Context& context, long steps);

}  // namespace polykem::ckks
